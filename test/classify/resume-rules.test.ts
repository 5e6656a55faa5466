import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { classify, jsonLines, TINY, temporaryFolder } from './command';

const folder = temporaryFolder();
const inFolder = (name: string): string => path.join(folder.path, name);
const write = (name: string, content: string | Buffer) => writeFileSync(inFolder(name), content);
const read = (name: string): string => readFileSync(inFolder(name), 'utf8');
const run = (...args: readonly string[]) => classify(args, { cwd: folder.path });

const ROWS = Array.from({ length: 9000 }, (_, id) => ({ id, text: `text ${(id * 7919) % 997}` }));

beforeAll(async () => {
  write('rows.jsonl', jsonLines(ROWS));
  expect((await run('rows.jsonl', '-o', 'rows-out.jsonl')).code).toBe(0);
});

afterAll(folder.remove);

describe('--resume', () => {
  /** A run that was killed behind its first checkpoints. */
  async function killed(output: string, ...more: readonly string[]): Promise<void> {
    const journal = inFolder(`${output}.journal`);
    const { signal } = await classify(['rows.jsonl', 'more.jsonl', '-o', output, ...more], {
      cwd: folder.path,
      onStart: (child) => {
        const watch = setInterval(() => {
          if (!existsSync(journal) || readFileSync(journal, 'utf8').split('\n').length < 4) return;
          clearInterval(watch);
          child.kill('SIGKILL');
        }, 2);
      },
    });
    expect(signal).toBe('SIGKILL');
  }

  beforeAll(() => {
    const more = Array.from({ length: 8 }, () => jsonLines(ROWS));
    write('more.jsonl', more.join(''));
  });

  const resume = (output: string, ...more: readonly string[]) =>
    run('rows.jsonl', 'more.jsonl', '-o', output, '--resume', ...more);

  it('refuses inputs that have changed, by name, and other options; --overwrite begins anew', async () => {
    await killed('r1.jsonl');
    const again = await run('rows.jsonl', 'more.jsonl', '-o', 'r1.jsonl');
    expect([again.code, again.stderr]).toEqual([
      2,
      expect.stringMatching(/Continue with --resume/),
    ]);
    const other = await resume('r1.jsonl', '--all-labels');
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringMatching(/allLabels false, not true/),
    ]);
    utimesSync(inFolder('more.jsonl'), new Date(), new Date());
    const changed = await resume('r1.jsonl');
    expect([changed.code, changed.stderr]).toEqual([
      2,
      expect.stringMatching(/more.jsonl: file changed since the job was started/),
    ]);
    const fewer = await run('rows.jsonl', '-o', 'r1.jsonl', '--resume');
    expect([fewer.code, fewer.stderr]).toEqual([2, expect.stringMatching(/expected as input 2/)]);
    const anew = await run('rows.jsonl', '-o', 'r1.jsonl', '--overwrite');
    expect([anew.code, read('r1.jsonl')]).toEqual([0, read('rows-out.jsonl')]);
  });

  it('begins where there is nothing, and says again that it has finished', async () => {
    const first = await run('rows.jsonl', '-o', 'r2.jsonl', '--resume');
    expect([first.code, read('r2.jsonl')]).toEqual([0, read('rows-out.jsonl')]);
    const second = await run('rows.jsonl', '-o', 'r2.jsonl', '--resume', '--summary', 'r2.json');
    expect([second.code, second.stderr]).toEqual([0, expect.stringContaining('9,000 answered')]);
    // What was finished and taken away is not said to be there.
    renameSync(inFolder('r2.jsonl'), inFolder('r2-moved.jsonl'));
    const third = await run('rows.jsonl', '-o', 'r2.jsonl', '--resume');
    expect([third.code, third.stderr]).toEqual([
      2,
      expect.stringContaining('the output is missing'),
    ]);
    renameSync(inFolder('r2-moved.jsonl'), inFolder('r2.jsonl'));
    expect([read('r2.jsonl'), JSON.parse(read('r2.json')).answered]).toEqual([
      read('rows-out.jsonl'),
      9000,
    ]);
  });

  it('knows the model by what it is loaded from, wherever it is, and the version by its name', async () => {
    const model = inFolder('model');
    cpSync(TINY, model, { recursive: true });
    const again = (directory: string) =>
      classify(['rows.jsonl', '-o', 'r5.jsonl', '--resume'], {
        cwd: folder.path,
        env: { SENTIMENT_MODEL_DIR: directory },
      });
    expect((await again(model)).code).toBe(0);
    for (const name of readdirSync(model)) utimesSync(path.join(model, name), 1, 1);
    write('model/README.md', 'stray');
    renameSync(model, inFolder('moved'));
    const same = await again(inFolder('moved'));
    expect([same.code, same.stderr]).toEqual([0, expect.stringContaining('9,000 answered')]);
    for (const name of ['config.json', 'tokenizer.json', 'model.safetensors']) {
      const whole = readFileSync(inFolder(`moved/${name}`));
      const other = Buffer.from(whole);
      // Another space, or another weight: same size, and same time.
      const at = name.endsWith('.json') ? other.lastIndexOf('}') - 1 : other.length - 1;
      other[at] = name.endsWith('.json') ? 0x20 : (other[at] as number) ^ 1;
      write(`moved/${name}`, other);
      utimesSync(inFolder(`moved/${name}`), 1, 1);
      const changed = await again(inFolder('moved'));
      expect([changed.code, changed.stderr]).toEqual([
        2,
        expect.stringContaining(`${name}: model file changed since the job was started`),
      ]);
      write(`moved/${name}`, whole);
    }
    const journal = read('r5.jsonl.journal');
    for (const [was, said] of [
      ['"0.0.1"', 'the job was started with version 0.0.1 of libtorch-serve, not'],
      ['1', 'the job was started with another version of libtorch-serve, not'],
    ]) {
      write('r5.jsonl.journal', journal.replace(/"version":"[^"]+"/, `"version":${was}`));
      const other = await again(inFolder('moved'));
      expect([other.code, other.stderr]).toEqual([2, expect.stringContaining(said as string)]);
    }
  });

  it('names the line of a journal that was edited, and what to do', async () => {
    expect((await run('rows.jsonl', '-o', 'r6.jsonl', '--resume')).code).toBe(0);
    const [header = '', ...rest] = read('r6.jsonl.journal').trimEnd().split('\n');
    const edited: readonly (readonly [readonly string[], string])[] = [
      [
        [header, rest[0]?.replace(/"rows":\d+/, '"rows":"many"') as string],
        'r6.jsonl.journal, line 2: rows: Invalid input: expected number, received string',
      ],
      [
        [header, '{"overrun":{"file":0,"line":"x","reason":"r"}}'],
        'r6.jsonl.journal, line 2: overrun.line: Invalid input',
      ],
      [[header, '7'], 'r6.jsonl.journal, line 2: Invalid input: expected object, received number'],
      [
        [header.replace(/"inputs":\[.*?\]/, '"inputs":null'), ...rest],
        'r6.jsonl.journal, line 1: inputs: Invalid input: expected array, received null',
      ],
    ];
    for (const [lines, said] of edited) {
      write('r6.jsonl.journal', lines.map((line) => `${line}\n`).join(''));
      const { code, stderr } = await run('rows.jsonl', '-o', 'r6.jsonl', '--resume');
      expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
      expect(stderr).toMatch(/Restore the journal, or start again with --overwrite\n$/);
      expect(stderr.trim().split('\n').length).toBe(1);
    }
    expect((await run('rows.jsonl', '-o', 'r6.jsonl', '--overwrite')).code).toBe(0);
  });

  it('cuts off what a killed process wrote behind its last checkpoint', async () => {
    await killed('r3.jsonl');
    for (const name of ['r3.jsonl.partial', 'r3.jsonl.rejects.jsonl.partial', 'r3.jsonl.journal']) {
      writeFileSync(inFolder(name), '{"half of a li', { flag: 'a' });
    }
    expect((await resume('r3.jsonl')).code).toBe(0);
    expect(read('r3.jsonl')).toBe(read('rows-out.jsonl').repeat(9));
  });

  it('stops at a signal with its exit code, and goes on', async () => {
    const { code, stderr } = await classify(['rows.jsonl', 'more.jsonl', '-o', 'r4.jsonl'], {
      cwd: folder.path,
      onStart: (child) => {
        const watch = setInterval(() => {
          if (!existsSync(inFolder('r4.jsonl.journal'))) return;
          clearInterval(watch);
          child.kill('SIGTERM');
        }, 2);
      },
    });
    expect([code, stderr]).toEqual([143, expect.stringContaining('Continue with --resume')]);
    expect((await resume('r4.jsonl')).code).toBe(0);
    expect(read('r4.jsonl')).toBe(read('rows-out.jsonl').repeat(9));
  });
});
