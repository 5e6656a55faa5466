import path from 'node:path';
import { addon } from '../../src/native/addon';
import { Engine } from '../../src/native/engine';
import { SCHEDULING } from '../helpers/scheduling';
import { FIXTURES, killAll, NodeProcess } from '../helpers/service';

const SCRIPT = path.join(__dirname, 'scripts', 'engine.cjs');

afterAll(killAll);

/** [what, standard output]; the ways in which a process ends are walked in test/soak. */
it.each([
  ['closed', 'DRAINING\n'],
  ['two-engines', 'answered\n'],
  ['terminated-workers', 'answered\n'],
  ['worker-that-ends', ''],
])('a process with %s ends with 0', async (what, stdout) => {
  const process_ = new NodeProcess({ script: SCRIPT, args: [what] });
  const exit = await process_.exit;
  expect({ ...exit, stdout: process_.stdout }).toEqual({ code: 0, signal: null, stdout });
  expect(process_.stderr).toBe('');
});

interface Collected {
  readonly outcome?: string;
  readonly isCollected: boolean;
  readonly longestTurnMs: number;
  readonly runMs: number;
}

/** While the model runs, and with nothing left but the promise of what is waited for. */
it.each([
  ['infer', 'INFERENCE_TIMEOUT'],
  ['close', 'ended'],
  ['idle', 'ended'],
])('the event loop does not wait for an engine that is collected (%s)', async (way, outcome) => {
  const script = path.join(__dirname, 'scripts', 'collected.cjs');
  const process_ = new NodeProcess({ script, args: [way], nodeArgs: ['--expose-gc'] });
  expect(await process_.exit).toEqual({ code: 0, signal: null });
  expect(process_.stderr).toBe('');
  const collected = JSON.parse(process_.stdout) as Collected;
  expect(collected).toMatchObject({ outcome, isCollected: true });
  expect(collected.longestTurnMs).toBeLessThan(collected.runMs / 2);
});

it('an error of the callback for responses loses no later event', async () => {
  const script = path.join(__dirname, 'scripts', 'throwing-callback.cjs');
  const model = path.join(FIXTURES, 'eeg', 'plain-cnn-scripted.pt');
  const process_ = new NodeProcess({ script, args: [model] });
  expect(await process_.exit).toEqual({ code: 0, signal: null });
  expect(process_.stdout).toBe('closed\n');
  expect(process_.stderr).toContain('Uncaught N-API callback exception');
});

describe('an engine is made by load() alone', () => {
  it.each([
    ['nothing', () => undefined],
    ['compiled patterns', () => addon().compilePatterns([{ isKind: false, text: 'a' }])],
    ['another engine', (engine: object) => engine],
    ['a number', () => 7],
  ])('not by its constructor with %s', async (_, given) => {
    const source = {
      type: 'signal-program',
      path: path.join(FIXTURES, 'eeg', 'plain-cnn-scripted.pt'),
      windowLength: 256,
    } as const;
    const engine = await addon().load(source, SCHEDULING, () => {});
    const { constructor: Made } = engine as unknown as {
      constructor: new (of: unknown) => undefined;
    };
    const argument = await given(engine);
    expect(() => new Made(argument)).toThrow(/made by load/);
    await engine.close();
  });
});

const LIMITS = {
  workers: 10_000,
  threadsPerWorker: 10_000,
  maxBatchTokens: Number.MAX_SAFE_INTEGER,
  maxBatchRequests: Number.MAX_SAFE_INTEGER,
  maxQueueDelayMs: 1e12,
  maxQueueRequests: Number.MAX_SAFE_INTEGER,
  inferenceTimeoutMs: 1e12,
  maxQueueWaitMs: 1e12,
  weight: 1000,
};

describe('a number that no option of an engine can be', () => {
  const source = {
    type: 'signal-program',
    path: path.join(FIXTURES, 'eeg', 'plain-cnn-scripted.pt'),
    windowLength: 256,
  } as const;
  const problemOf = (changed: object, options: object = {}): Promise<unknown> =>
    Engine.load({ ...source, ...changed }, { ...SCHEDULING, ...options }).then(
      (engine) => engine.close(),
      (error: Error) => error.message,
    );

  it.each(Object.entries(LIMITS))('%s', async (name, most) => {
    for (const value of [Infinity, -Infinity, NaN, -1, most * 2]) {
      const least = { maxQueueDelayMs: 0, weight: 0.001 }[name] ?? 1;
      expect(await problemOf({}, { [name]: value })).toBe(
        `Expected a number from ${least} to ${most} for ${name} but received the number ${value}`,
      );
    }
  });

  it('of the source', async () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(await problemOf({ windowLength: Infinity })).toBe(
      `Expected a number from 1 to ${most} for windowLength but received the number Infinity`,
    );
    expect(await problemOf({ inputShape: [1, Infinity] })).toBe(
      `Expected a number from 1 to ${most} for inputShape[1] but received the number Infinity`,
    );
  });

  it('the largest that they can be are taken', async () => {
    const { workers, threadsPerWorker, ...others } = LIMITS;
    expect(await problemOf({}, others)).toBeUndefined();
  });
});
