/** A guard file that is read again frees the patterns of the one before with the last request that uses them. */
import { post } from '../../helpers/http';
import { newDirectory, removeDirectories } from '../../helpers/models-directory';
import { figuresOf } from '../../helpers/process-figures';
import { until } from '../../helpers/until';

const RELOADS = 20;
/** Before memory is measured: malloc takes its working set once. */
const RELOADS_BEFORE = 3;
/** Each has about 1.6 MB compiled, near the limit of a pattern. */
const PATTERNS = 20;
/** Two sets of patterns, of which the other was not freed at the measurement. */
const MOST_MB = 64;

afterAll(removeDirectories);

const guardFile = (turn: number): string =>
  JSON.stringify({
    checks: [
      {
        name: `check-${turn}`,
        type: 'patterns',
        action: 'block',
        patterns: { LARGE: Array.from({ length: PATTERNS }, (_, i) => `x${turn}y${i}\\w{20}z`) },
      },
    ],
  });

it(`frees the patterns of a file that is read ${RELOADS} times again`, async () => {
  const directory = newDirectory();
  directory.write('guard.json', guardFile(0));
  const service = await directory.start();
  const pid = service.child.pid as number;
  let turn = 0;
  const reload = async () => {
    directory.write('guard.json', guardFile(++turn));
    service.child.kill('SIGHUP');
    const text = `x${turn}y0${'a'.repeat(20)}z`;
    await until(`guard ${turn}`, async () => {
      const { json } = await post(service, '/guard', { text });
      return (json as { readonly action: string }).action === 'block';
    });
  };
  while (turn < RELOADS_BEFORE) await reload();
  const before = figuresOf(pid).residentMb;
  while (turn < RELOADS_BEFORE + RELOADS) await reload();
  const added = () => figuresOf(pid).residentMb - before;
  await until(`less than ${MOST_MB} MB more`, () => added() < MOST_MB, { limitMs: 10_000 });
});
