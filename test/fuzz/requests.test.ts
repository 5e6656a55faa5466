import { request } from '../helpers/http';
import { type Figures, figuresOf } from '../helpers/process-figures';
import { EEG_MODEL, killAll, type Service, startService, textModel } from '../helpers/service';
import { budgeted, report, SEED } from './budget';
import { Draw } from './draw';
import type { RawAnswer } from './requests/answer-reader';
import { ApiDescription, type Operations } from './requests/api';
import { type Case, makeCase } from './requests/cases';
import { describe as describeCase, runLane } from './requests/lane';
import { ROUTES } from './requests/routes';
import { makeLarge, makeSweep } from './requests/special';

const BODY_LIMIT = 1024 ** 2;
const LANES = 12;
/** What the service may have gained, MB; and its heap of JavaScript at most: what is kept for ever ends it. */
const MEMORY_MB = 250;
const NODE_ARGS = ['--max-old-space-size=192'];

const SERVICES = [
  {
    name: 'sentiment',
    env: textModel('bert-single-label'),
    count: budgeted({ ci: 1500, standard: 150_000, long: 420_000 }),
  },
  {
    name: 'eeg',
    env: { EEG_MODEL_PATH: EEG_MODEL },
    count: budgeted({ ci: 1500, standard: 150_000, long: 420_000 }),
  },
] as const;

afterAll(killAll);

/** What came back, and whether it was what had to. */
class Tally {
  readonly statuses: Record<string, number> = {};
  readonly kinds: Record<string, number> = {};
  count = 0;
  readonly #api: ApiDescription;

  constructor(api: ApiDescription) {
    this.#api = api;
  }

  readonly judge = (asked: Case, answer: RawAnswer): void => {
    try {
      this.#judge(asked, answer);
    } catch (error) {
      throw new Error(
        `FUZZ_SEED=${SEED}, request ${asked.id}: ${(error as Error).message}\n${describeCase(asked)}\n` +
          `answered ${answer.status} ${answer.body.toString().slice(0, 500)}`,
      );
    }
    this.count++;
    this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1;
    this.kinds[asked.what] = (this.kinds[asked.what] ?? 0) + 1;
  };

  #judge({ id, method, path, expected }: Case, answer: RawAnswer): void {
    const value = this.#api.check(method, path, answer);
    if (answer.headers.get('x-request-id') !== id)
      throw new Error(`the answer to ${answer.headers.get('x-request-id')}`);
    if (answer.status !== expected.status) throw new Error(`expected ${expected.status}`);
    const { detail } = (value ?? {}) as { readonly detail?: string };
    if (expected.detail && !expected.detail.test(detail ?? '')) {
      throw new Error(`expected ${expected.detail}`);
    }
    expected.check?.(value);
  }
}

/** Asks /health again and again, on a connection of its own; `stop` resolves with the times, in ms. */
function watchHealth(service: Service): { readonly stop: () => Promise<readonly number[]> } {
  let isOver = false;
  const watching = (async () => {
    const times: number[] = [];
    while (!isOver) {
      const start = performance.now();
      const { status, json } = await request(service, { path: '/health' });
      expect([status, json]).toEqual([200, { status: 'healthy', model_loaded: true }]);
      times.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return times;
  })();
  return {
    stop: () => {
      isOver = true;
      return watching;
    },
  };
}

describe.each(SERVICES)('generated requests to the $name service', ({ name, env, count }) => {
  let service: Service;
  let tally: Tally;
  let paths: ReadonlyMap<string, Operations>;
  const routes = ROUTES.filter((route) => route.service === name);

  beforeAll(async () => {
    // The bodies of all lanes have room at once, so that no answer depends on who else is there.
    const limits = { BODY_MEMORY: '1024mb', MAX_QUEUE_REQUESTS: '100000' };
    service = await startService(name, {
      nodeArgs: NODE_ARGS,
      env: { ...env, ...limits, REQUEST_TIMEOUT_MS: '600000' },
    });
    service.child.stdout?.removeAllListeners('data').resume(); // a million lines
    const api = await ApiDescription.of(service);
    tally = new Tally(api);
    paths = api.paths;
  });

  /** Sends what `make` makes, over connections of different depths. */
  async function send(amount: number, make: (index: number) => Case): Promise<void> {
    let made = 0;
    const next = (): Case | null => (made < amount ? make(made++) : null);
    await Promise.all(
      Array.from({ length: LANES }, (_, lane) =>
        runLane(service, {
          depth: process.env.D1 ? 1 : ([1, 4, 16][lane % 3] as number),
          next,
          judge: tally.judge,
        }),
      ),
    );
  }

  function generate(seed: number): (index: number) => Case {
    const draw = new Draw(seed);
    return (index) => makeCase({ draw, routes, paths, bodyLimit: BODY_LIMIT }, `${seed}-${index}`);
  }

  it('are answered as their bytes say, each by its own answer, in bounded memory', async () => {
    const pid = service.child.pid as number;
    await send(Math.ceil(count / 4), generate(2 * SEED));
    const before: Figures = figuresOf(pid);
    const health = watchHealth(service);
    const start = performance.now();
    const first = tally.count;
    await send(count, generate(2 * SEED + 1));
    const seconds = (performance.now() - start) / 1000;
    const times = [...(await health.stop())].sort((a, b) => a - b);
    const after = figuresOf(pid);
    report(`requests, ${name}`, {
      seed: SEED,
      bodies: tally.count,
      perSecond: Math.round((tally.count - first) / seconds),
      statuses: tally.statuses,
      kinds: tally.kinds,
      healthMs: { median: times[times.length >> 1], worst: times.at(-1) },
      residentMb: [before.residentMb, after.residentMb].map(Math.round),
    });
    expect(after.residentMb - before.residentMb).toBeLessThan(MEMORY_MB);
    expect(after.threads).toBe(before.threads);
    expect(service.stderr).toBe('');
  });

  it('of all of Unicode, and up to the limit, too', async () => {
    const sweep = makeSweep(routes, budgeted({ ci: 64, standard: 1, long: 1 }));
    await send(sweep.length, (index) => sweep[index] as Case);
    const draw = new Draw(SEED);
    const amount = budgeted({ ci: 12, standard: 200, long: 1000 });
    await send(amount, (index) => makeLarge(draw, routes, { bodyLimit: BODY_LIMIT, index }));
    report(`requests, ${name}, of Unicode and large`, {
      seed: SEED,
      bodies: sweep.length + amount,
    });
    expect(service.stderr).toBe('');
  });
});
