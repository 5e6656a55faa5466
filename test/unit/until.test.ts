import { Folder } from '../helpers/files';
import { killAll, NodeProcess } from '../helpers/service';
import { abreast } from '../helpers/times';
import { setTestLimit, until, within } from '../helpers/until';

const folder = new Folder();

afterAll(async () => {
  await killAll();
  folder.remove();
});

const never = new Promise<never>(() => {});

describe('until', () => {
  it('resolves with the first answer that is one, 0 and an empty text included', async () => {
    for (const answer of [0, '', true, 'yes']) {
      const answers = [false, null, undefined, answer];
      expect(await until('an answer', () => answers.shift(), { everyMs: 0 })).toBe(answer);
    }
  });

  it('says what it has waited for in vain', async () => {
    const waiting = until('the end of the world', () => false, { limitMs: 20 });
    await expect(waiting).rejects.toThrow('waited 0.02 s for the end of the world');
  });

  it('rejects at once with what a look throws', async () => {
    const look = () => Promise.reject(new Error('nobody is there'));
    await expect(until('an answer', look)).rejects.toThrow('nobody is there');
  });
});

it('within says what it has waited for in vain', async () => {
  expect(await within(() => 'a word', Promise.resolve('word'))).toBe('word');
  await expect(within(() => 'a word', never, 20)).rejects.toThrow('waited 0.02 s for a word');
});

it('a log line that never comes is named, with what came instead', async () => {
  const script = `console.log('{"msg":"other"}'); setInterval(() => {}, 1000);`;
  const child = new NodeProcess({ script: folder.put('silent.js', script) });
  await child.waitForLog(({ msg }) => msg === 'other');
  setTestLimit(60); // of which a wait has 50 ms
  const waits = [
    child.waitForLog(({ msg }) => msg === 'awaited'),
    child.lineOf('one'),
    child.nextOutput(),
  ];
  setTestLimit(120_000);
  const messages = (await Promise.allSettled(waits)).map((one) => String(Object(one).reason));
  const written = '; written so far: {"msg":"other"}\n';
  expect(messages).toEqual([
    expect.stringMatching(
      /^Error: waited 0\.05 s for a log line where .*'awaited'; written so far/,
    ),
    `Error: waited 0.05 s for the log line of request one${written}`,
    `Error: waited 0.05 s for more output${written}`,
  ]);
});

it('a process that ends is not waited for', async () => {
  const child = new NodeProcess({ script: folder.put('ends.js', 'process.exit(4)') });
  await expect(child.waitForLog(() => true)).rejects.toThrow('ended ({"code":4,"signal":null})');
});

it('abreast runs each once, and so many at a time', async () => {
  const started: number[] = [];
  let running = 0;
  let most = 0;
  await abreast(20, 3, async (i) => {
    started.push(i);
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
  });
  expect(started).toEqual([...Array(20).keys()]);
  expect(most).toBe(3);
});
