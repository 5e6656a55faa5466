/** Inputs in the background: the results of other inputs, after interactive inputs. */
import path from 'node:path';
import { Cancellation } from '../../src/native/pending-requests';
import { TaskModel } from '../../src/tasks/task-model';
import { textClassification } from '../../src/tasks/text-classification/text-classification-task';
import { SCHEDULING } from '../helpers/scheduling';
import { ROOT } from '../helpers/service';
import { until } from '../helpers/until';

const WORKERS = 2;
const MAX_BATCH_REQUESTS = 4;
const BACKGROUND = { isBackground: true } as const;
const SENTIMENT = path.join(ROOT, 'models', 'sentiment');

const texts = (count: number, name: string) =>
  Array.from({ length: count }, (_, i) => ({ text: `A quiet, funny film, ${name} ${i}.` }));

let model: Awaited<ReturnType<typeof load>>;
/** Number of inputs that are done. */
let done = 0;

function load() {
  const limits = { workers: WORKERS, maxBatchRequests: MAX_BATCH_REQUESTS };
  return TaskModel.load(textClassification, SENTIMENT, { ...SCHEDULING, ...limits });
}

beforeAll(async () => {
  model = await load();
  model.monitor.observe((completions) => {
    done += completions.length;
  });
});

beforeEach(() => {
  done = 0;
});

afterAll(() => model.close());

it('have the same results', async () => {
  const inputs = texts(50, 'equal');
  const [interactive, background] = [
    await model.runAll(inputs, {}),
    await model.runAll(inputs, BACKGROUND),
  ];
  expect(background.map(({ scores }) => scores)).toEqual(interactive.map(({ scores }) => scores));
});

it('leave room for interactive inputs', async () => {
  const background = model.runAll(texts(500, 'background'), BACKGROUND);
  await until('some are done', () => done > 20);
  const { queueRequests } = model.monitor.stats();
  expect(queueRequests).toBeLessThanOrEqual(WORKERS * MAX_BATCH_REQUESTS);
  const before = done;
  await model.run({ text: 'An interactive request.' }, {});
  // Those that were submitted before, and what other workers did meanwhile.
  expect(done - before).toBeLessThan(100);
  expect(await background).toHaveLength(500);
});

it('wait while interactive inputs use all workers, but not forever', async () => {
  let isOver = false;
  let interactive = 0;
  const clients = Array.from({ length: 4 * WORKERS }, async () => {
    while (!isOver) {
      await model.run({ text: 'An interactive request.' }, {});
      interactive++;
    }
  });
  await until('the load runs', () => interactive > 20);
  expect(await model.runAll(texts(3, 'slow'), BACKGROUND)).toHaveLength(3);
  expect(interactive).toBeGreaterThan(30);
  isOver = true;
  await Promise.all(clients);
});

it('are cancelled together, and report the input that failed', async () => {
  const cancellation = new Cancellation();
  const running = model.runAll(texts(500, 'cancelled'), { ...BACKGROUND, signal: cancellation });
  await until('some are done', () => done > 0);
  cancellation.abort();
  await expect(running).rejects.toMatchObject({ code: 'CANCELLED' });
  const inputs = texts(3, 'long').map((input, i) =>
    i === 1 ? { text: 'long '.repeat(5000), truncation: 'do_not_truncate' as const } : input,
  );
  const failing = model.runAll(inputs, BACKGROUND);
  await expect(failing).rejects.toMatchObject({ code: 'INPUT_TOO_LONG', index: 1 });
  await expect(
    model.runAll(texts(1, 'late'), { ...BACKGROUND, signal: cancellation }),
  ).rejects.toMatchObject({ code: 'CANCELLED' });
});
