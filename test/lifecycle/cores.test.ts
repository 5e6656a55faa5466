/** What a service makes of a share of the machine; bench/cores.mjs measures it. */
import { availableParallelism } from 'node:os';
import { analyze } from '../helpers/http';
import { skipWhere } from '../helpers/needs';
import { killAll, MAIN, startService, textModel } from '../helpers/service';

interface ControlGroup {
  /** What is run by these words is in it. */
  readonly through: readonly string[];
  remove(): void;
}

const { makeControlGroup } = require('../../bench/control-group.cjs') as {
  makeControlGroup(name: string, controller: 'cpu', cores: number): ControlGroup;
};

const NAME = `libtorch-serve-test-${process.pid}`;
const CORES = availableParallelism();
const MODEL = textModel('bert-single-label');

const groupProblem = (): string | null => {
  try {
    makeControlGroup(NAME, 'cpu', 1).remove();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

afterAll(killAll);

/** Started by `words`, it answers, and has this many workers. */
async function expectWorkers(words: readonly string[], workers: number): Promise<void> {
  const [program = '', ...args] = [...words, process.execPath, MAIN];
  const service = await startService('sentiment', {
    env: { ...MODEL, WORKERS: '' }, // by default
    program,
    nodeArgs: args.slice(0, -1),
  });
  const listening = await service.waitForLog(({ msg }) => msg === 'listening');
  const { status } = await analyze(service, 'good');
  await service.stop(); // also where what follows fails: a control group that is in use stays
  expect(status).toBe(200);
  expect(listening.scheduling).toMatchObject({ workers });
}

skipWhere(groupProblem(), 'control groups, which root may make').describe(
  'under a CPU quota',
  () => {
    it.each([
      { quota: 0.5, workers: 1 },
      { quota: 1, workers: 1 },
      { quota: 1.5, workers: Math.min(2, CORES) },
      { quota: 2, workers: Math.min(2, CORES) },
    ])('of $quota: $workers workers', async ({ quota, workers }) => {
      const group = makeControlGroup(NAME, 'cpu', quota);
      try {
        await expectWorkers(group.through, workers);
      } finally {
        group.remove();
      }
    });
  },
);

describe('under an affinity mask', () => {
  it.each([1, Math.min(2, CORES)])('of %d cores', async (cores) => {
    await expectWorkers(['taskset', '-c', `0-${cores - 1}`], cores);
  });
});
