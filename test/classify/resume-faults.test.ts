import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { MAIN } from '../helpers/service';
import { CALM, ENDLESS, eegModel, SLOW, windowOfAmplitude } from '../helpers/stuck';
import { classify, jsonLines, TINY, temporaryFolder } from './command';

const folder = temporaryFolder();
const inFolder = (name: string): string => path.join(folder.path, name);
const write = (name: string, content: string | Buffer) => writeFileSync(inFolder(name), content);
const read = (name: string): string => readFileSync(inFolder(name), 'utf8');
const objects = (name: string): Record<string, unknown>[] =>
  read(name)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const ROWS = Array.from({ length: 40_000 }, (_, id) => ({ id, text: `text ${(id * 7919) % 997}` }));

afterAll(folder.remove);

describe('a journal that takes only a part of a line', () => {
  /** As on a disk that is full: a write takes what there is room for, and only the next one fails. */
  function limited(kilobytes: number, args: readonly string[]) {
    const script = `ulimit -f ${kilobytes} && exec "$0" "$@"`;
    const node = [process.execPath, MAIN, 'classify', ...args];
    const { status, stderr } = spawnSync('bash', ['--norc', '-c', script, ...node], {
      cwd: folder.path,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, SENTIMENT_MODEL_DIR: TINY },
    });
    return { code: status, stderr };
  }

  it.each([
    ['its last line', 100],
    ['its first line', 1000],
  ])('%s: ends the run, which goes on where there is room', async (_which, bytesBefore) => {
    // One row each, so that the journal, which names the inputs, is the largest file by far.
    const inputs = ROWS.slice(0, 100).map(({ id }) => `part-${id}.jsonl`);
    for (const [i, name] of inputs.entries()) write(name, jsonLines([ROWS[i]]));
    const args = (output: string, prefix: string) => [
      ...[...inputs, '-o', output, '--keep', 'none', '--prefix', prefix, '--resume'],
    ];
    const journalOf = async (output: string, prefix: string): Promise<number> => {
      const { code, stderr } = await classify(args(output, prefix), { cwd: folder.path });
      expect([code, stderr]).toEqual([0, expect.stringContaining('100 answered')]);
      return statSync(inFolder(`${output}.journal`)).size;
    };
    // Limits are in kilobytes, so the journal is made to end so much behind one. It names the prefix.
    const [output, whole] = [`a-${bytesBefore}.csv`, `b-${bytesBefore}.csv`];
    const bytes = await journalOf(`c-${bytesBefore}.csv`, '');
    const prefix = 'p'.repeat((((bytesBefore - bytes) % 1024) + 1024) % 1024);
    await journalOf(whole, prefix);
    const kilobytes = Math.floor((bytes + prefix.length) / 1024);
    expect(statSync(inFolder(whole)).size).toBeLessThan(kilobytes * 1024);
    const ended = limited(kilobytes, args(output, prefix));
    expect([ended.code, ended.stderr]).toEqual([
      1,
      expect.stringMatching(/\.csv\.journal: write failed: EFBIG.*--resume/),
    ]);
    expect(existsSync(inFolder(output))).toBe(false);
    expect((await classify(args(output, prefix), { cwd: folder.path })).code).toBe(0);
    expect(read(output)).toBe(read(whole));
  });
});

it('a Parquet file is taken up at its row group: those before are not read again', async () => {
  write('rows.jsonl', jsonLines(ROWS));
  const run = (...args: readonly string[]) => classify(args, { cwd: folder.path });
  expect((await run('rows.jsonl', '-o', 'rows.parquet', '--prefix', 'p_')).code).toBe(0);
  expect((await run('rows.parquet', '-o', 'whole.jsonl')).code).toBe(0);
  const rowsDone = (): number => Number(objects('again.jsonl.journal').at(-1)?.rows ?? 0);
  const { signal } = await classify(['rows.parquet', '-o', 'again.jsonl'], {
    cwd: folder.path,
    onStart: (child) => {
      const watch = setInterval(() => {
        try {
          // Row groups have 8,192 rows.
          if (rowsDone() <= 8192) return;
        } catch {
          return; // it is not there yet, or a line is half written
        }
        clearInterval(watch);
        child.kill('SIGKILL');
      }, 2);
    },
  });
  expect(signal).toBe('SIGKILL');
  // The first group is gone, and the file has the same size and time as before.
  const parquet = inFolder('rows.parquet');
  spawnSync('touch', ['-r', parquet, inFolder('time')]);
  writeFileSync(parquet, readFileSync(parquet).fill(0, 4, 4096));
  spawnSync('touch', ['-r', inFolder('time'), parquet]);
  const resumed = await run('rows.parquet', '-o', 'again.jsonl', '--resume');
  expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('40,000 answered')]);
  expect(read('again.jsonl')).toBe(read('whole.jsonl'));
});

describe('a row on which the model runs for too long', () => {
  const OVERRUN = 'The model ran longer than 1000 ms.';
  const calm = Array.from({ length: 60 }, (_, i) => windowOfAmplitude(1.5 + i / 50));
  const env = (model: string) => ({
    ...eegModel(model),
    INFERENCE_TIMEOUT_MS: '1000',
    INFERENCE_GRACE_MS: '500',
    WORKERS: '1',
  });
  const signals = (name: string, windows: readonly (readonly number[])[]) =>
    write(name, jsonLines(windows.map((signal, id) => ({ id, signal }))));

  it('goes to the rejects with its reason, without those that ran with it, and the run goes on', async () => {
    const windows = calm.with(0, SLOW).with(21, SLOW).with(22, SLOW);
    signals('slow.jsonl', windows);
    signals(
      'calm.jsonl',
      windows.map((one) => (one === SLOW ? CALM : one)),
    );
    const model = env('endless-on-large-input');
    const run = (input: string, output: string) =>
      classify(['eeg', input, '-o', output], { cwd: folder.path, env: model });
    expect((await run('calm.jsonl', 'calm-out.jsonl')).code).toBe(0);
    const { code, stderr } = await run('slow.jsonl', 'slow-out.jsonl');
    expect([code, stderr]).toEqual([4, expect.stringContaining('57 answered, 3 rejected')]);
    expect(objects('slow-out.jsonl.rejects.jsonl')).toEqual(
      [1, 22, 23].map((line) => ({ file: 'slow.jsonl', line, reason: OVERRUN })),
    );
    const others = objects('calm-out.jsonl').filter(({ id }) => ![0, 21, 22].includes(Number(id)));
    expect(objects('slow-out.jsonl')).toEqual(others);
  });

  it('and does not come back: ends with 3, and --resume gets past it', async () => {
    signals('stuck.jsonl', calm.with(7, ENDLESS));
    const codes: (number | null)[] = [];
    for (let runs = 0; runs < 10 && codes.at(-1) !== 4; runs++) {
      const args = ['eeg', 'stuck.jsonl', '-o', 'stuck-out.jsonl', '--resume'];
      const { code, stderr } = await classify(args, {
        cwd: folder.path,
        env: env('slow-on-large-input'),
      });
      codes.push(code);
      if (code === 3) expect(stderr).toContain('stuck in a batch');
    }
    // Among others, alone, and not at all.
    expect(codes).toEqual([3, 3, 4]);
    expect(objects('stuck-out.jsonl.rejects.jsonl')).toEqual([
      { file: 'stuck.jsonl', line: 8, reason: OVERRUN },
    ]);
    expect(objects('stuck-out.jsonl').length).toBe(59);
  });
});
