/** `libtorch-serve embed --resume`: the bytes of .npy, Parquet and JSONL are those of a run that nobody ended. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { seededRandom } from '../helpers/random';
import { FIXTURES } from '../helpers/service';
import { jsonLines, overFiles, temporaryFolder } from './command';

const RESUME_MS = 300_000;
const MOST_RUNS = 200;
const MODEL = path.join(FIXTURES, 'embeddings', 'sentences', 'v3-cls-prompts');

const folder = temporaryFolder();
const inFolder = (name: string): string => path.join(folder.path, name);
const embed = (...args: readonly string[]) =>
  overFiles(['embed', '--model', MODEL, ...args], { cwd: folder.path });

afterAll(folder.remove);

describe('a run that is killed again and again', () => {
  const random = seededRandom(5);
  const many = Array.from({ length: 12_000 }, (_, id) => ({
    id,
    text: Array.from({ length: 1 + (id % 9) }, () => Math.floor(1e6 * random())).join(' '),
  }));
  const journalLines = (file: string) =>
    existsSync(file) ? readFileSync(file, 'latin1').split('\n').length - 1 : 0;

  it.each(['x.npy', 'x.parquet', 'x.jsonl'])(
    'goes on where it was: %s',
    async (output) => {
      writeFileSync(inFolder('many.jsonl'), `${jsonLines(many)}no JSON\n`);
      const whole = await embed('many.jsonl', '-o', `whole-${output}`);
      expect(whole.code).toBe(4);
      const journal = inFolder(`${output}.journal`);
      let kills = 0;
      for (let runs = 0; runs < MOST_RUNS; runs++) {
        const before = journalLines(journal) + 1 + (runs % 3);
        const { code, signal } = await overFiles(
          ['embed', '--model', MODEL, 'many.jsonl', '-o', output, '--resume'],
          {
            cwd: folder.path,
            onStart: (child) => {
              const watch = setInterval(() => {
                if (journalLines(journal) < before) return;
                clearInterval(watch);
                child.kill('SIGKILL');
              }, 2);
              child.on('exit', () => clearInterval(watch));
            },
          },
        );
        if (signal !== 'SIGKILL') {
          expect(code).toBe(4);
          break;
        }
        kills++;
      }
      expect(kills).toBeGreaterThan(1);
      for (const suffix of ['', '.rejects.jsonl']) {
        const [ours, theirs] = [output, `whole-${output}`].map((name) =>
          readFileSync(inFolder(`${name}${suffix}`)),
        );
        expect(ours?.equals(theirs as Buffer)).toBe(true);
      }
    },
    RESUME_MS,
  );
});
