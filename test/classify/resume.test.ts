import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { seededRandom } from '../helpers/random';
import { classify, type Ended, jsonLines, temporaryFolder } from './command';

const RESUME_MS = 300_000;
const ROWS = 20_000;
/** A run that never comes further would end here. */
const MOST_RUNS = 200;

const folder = temporaryFolder();
const inFolder = (name: string): string => path.join(folder.path, name);

afterAll(folder.remove);

beforeAll(() => {
  const random = seededRandom(1);
  const rows = Array.from({ length: ROWS }, (_, id) => {
    const length = 1 + Math.floor(random() * 12);
    const words = Array.from({ length }, () => Math.floor(36 ** 4 * random()).toString(36));
    return random() < 0.01 ? { id } : { id, text: words.join(' ') };
  });
  const half = ROWS / 2 + 123;
  writeFileSync(inFolder('a.jsonl'), jsonLines(rows.slice(0, half)));
  const rest = `${jsonLines(rows.slice(half, -1))}no JSON\n${jsonLines(rows.slice(-1))}`;
  writeFileSync(inFolder('b.jsonl.gz'), gzipSync(rest));
});

const INPUTS = ['a.jsonl', 'b.jsonl.gz'];

function run(output: string, ...more: readonly string[]): Promise<Ended> {
  const args = [...INPUTS, '-o', output, '--summary', `${output}.json`, ...more];
  return classify(args, { cwd: folder.path });
}

function lines(file: string): number {
  return existsSync(file) ? readFileSync(file, 'latin1').split('\n').length - 1 : 0;
}

/** Starts the run again and again, and kills it: at once, or some checkpoints later. */
async function killUntilDone(output: string, seed: number): Promise<{ runs: number; end: Ended }> {
  const random = seededRandom(seed);
  const journal = inFolder(`${output}.journal`);
  for (let runs = 1; runs <= MOST_RUNS; runs++) {
    const checkpoints = Math.floor(random() * 4);
    const waitMs = random() * (checkpoints === 0 ? 1200 : 60);
    const before = lines(journal);
    const end = await classify(
      [...INPUTS, '-o', output, '--summary', `${output}.json`, '--resume'],
      {
        cwd: folder.path,
        onStart: (child) => {
          const watch = setInterval(() => {
            if (lines(journal) < before + checkpoints) return;
            clearInterval(watch);
            setTimeout(() => child.kill('SIGKILL'), waitMs);
          }, 5);
          child.on('exit', () => clearInterval(watch));
        },
      },
    );
    if (end.signal !== 'SIGKILL') return { runs, end };
    if (existsSync(inFolder(output))) expect(isFinished(journal)).toBe(true);
  }
  throw new Error(`not done after ${MOST_RUNS} runs`);
}

function isFinished(journal: string): boolean {
  return readFileSync(journal, 'utf8').includes('"finished":true');
}

describe.each([
  ['JSONL', 'x.jsonl', 1],
  ['JSONL with gzip', 'x.jsonl.gz', 2],
  ['CSV with zstd', 'x.csv.zst', 3],
  ['Parquet', 'x.parquet', 4],
])('a run that is killed again and again: %s', (_name, output, seed) => {
  it(
    'goes on where it was, and its output is that of a run that was not',
    async () => {
      const whole = await run(`whole-${output}`);
      expect(whole.code).toBe(4);
      const { runs, end } = await killUntilDone(output, seed);
      expect(end.stderr).toContain('rejected');
      expect(end.code).toBe(4);
      expect(runs).toBeGreaterThan(2);
      for (const suffix of ['', '.rejects.jsonl']) {
        const [ours, theirs] = [output, `whole-${output}`].map((name) =>
          readFileSync(inFolder(`${name}${suffix}`)),
        );
        expect(ours?.equals(theirs as Buffer)).toBe(true);
      }
      const [ours, theirs] = [output, `whole-${output}`].map((name) =>
        JSON.parse(readFileSync(inFolder(`${name}.json`), 'utf8')),
      );
      for (const key of ['rows', 'answered', 'rejected', 'labels']) {
        expect(ours[key]).toEqual(theirs[key]);
      }
      expect(ours.rows).toBe(ROWS + 1);
      expect(readdirSync(folder.path).filter((name) => name.endsWith('.partial'))).toEqual([]);
    },
    RESUME_MS,
  );
});
