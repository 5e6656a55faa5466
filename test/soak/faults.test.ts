import http from 'node:http';
import { buildFaults, Faults, type FaultyThread } from '../helpers/faults';
import { type Answer, post, request } from '../helpers/http';
import { scrape } from '../helpers/metrics';
import { killAll, type Service, startService } from '../helpers/service';
import { expectError, SERVICE_CASES, type ServiceCase } from '../helpers/services';
import { budgeted, report } from './budget';

/** Of a request's allocations while the model runs: the last one that is made to fail. */
const LAST_PLACE = budgeted({ ci: 100, standard: 5000, long: 5000 });
/** One in how many of them. Of the few on other threads, every one. */
const INFERENCE_STEP = budgeted({ ci: 5, standard: 1, long: 1 });
/** One in how many of the threads that a service creates. */
const THREAD_STEP = budgeted({ ci: 3, standard: 1, long: 1 });
/** Requests that are sent at once, so that the one that fails has neighbours. */
const AT_ONCE = 3;

let faults: Faults;

beforeAll(buildFaults);
beforeEach(() => {
  faults = new Faults();
});
afterEach(() => faults.close());
afterAll(killAll);

function start({ name, options }: ServiceCase, workers: string): Promise<Service> {
  return startService(name, { env: { ...options.env, ...faults.env, WORKERS: workers } });
}

/** In our words, or in those of oneDNN, which LibTorch passes on. */
const isOutOfMemory = ({ status, text }: Answer): boolean =>
  status === 500 && /^\{"detail":"(out of memory|could not create [a-z ]+)"\}$/.test(text);

/** What the preloaded library does is done on Linux alone. */
describe.each(SERVICE_CASES)('$name: a request', (service) => {
  const threads: readonly FaultyThread[] =
    service.name === 'sentiment'
      ? ['inference', 'tokenization', 'event loop']
      : ['inference', 'event loop'];

  it.each(threads)(
    'of which any allocation fails on the thread "%s" is answered 500, its neighbours and the next one 200',
    async (thread) => {
      const running = await start(service, '1');
      const agent = new http.Agent({ keepAlive: true });
      const ask = () => post(running, service.path, service.body, { agent });
      await ask();
      let most = 1;
      let rounds = 0;
      let failed = 0;
      const step = thread === 'inference' ? INFERENCE_STEP : 1;
      for (let place = 1; place <= Math.min(most, LAST_PLACE); place += step) {
        faults.failAllocation(thread, place);
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, ask));
        most = Math.max(most, faults.allocations);
        faults.disarm();
        const wrong = answers.filter(({ status }) => status !== 200);
        expect({ place, wrong: wrong.filter((answer) => !isOutOfMemory(answer)) }).toEqual({
          place,
          wrong: [],
        });
        expect({ place, failed: wrong.length <= 1 }).toEqual({ place, failed: true });
        expect({ place, next: (await ask()).status }).toEqual({ place, next: 200 });
        rounds++;
        failed += wrong.length;
      }
      report('allocations', { service: service.name, thread, most, rounds, failed });
      expect(failed).toBeGreaterThan(0);
      await expectCounted(running, 1 + rounds * (AT_ONCE + 1), failed);
      agent.destroy();
      expect(await running.stop()).toEqual({ code: 0, signal: null });
      expect(running.stderr).toBe('');
    },
  );
});

/** Every request is in the metrics, and nothing is left in the queue. */
async function expectCounted(service: Service, requests: number, failed: number): Promise<void> {
  const metrics = await scrape(service);
  const statuses = Object.entries(metrics.requests);
  const count = (status: string): number =>
    statuses.reduce((sum, [key, value]) => sum + (key.endsWith(` ${status}`) ? value : 0), 0);
  expect([count('200'), count('500')]).toEqual([requests - failed, failed]);
  expect(metrics.value('libtorch_serve_queue_inputs')).toBe(0);
  const outcomes = metrics.byLabel('libtorch_serve_inputs_total', 'outcome');
  expect(outcomes.answered).toBe(requests - failed);
}

describe.each(SERVICE_CASES)('$name: a thread that cannot be created', (service) => {
  it('at the start leaves a service that serves, with its model or without', async () => {
    const seen: Record<string, number> = {};
    for (let place = 1, created = 1; place <= created; place += THREAD_STEP) {
      faults.failThread(place);
      const running = await start(service, '2');
      created = Math.max(created, faults.threads);
      faults.disarm();
      const health = await request(running, { path: '/health' });
      const { model_loaded: loaded } = health.json as { model_loaded: boolean };
      const answer = await post(running, service.path, service.body);
      if (loaded) {
        expect(answer.status).toBe(200);
      } else {
        expectError(answer, 500, 'Model is not loaded.');
        const { msg } = await running.waitForLog(({ level }) => level === 'error');
        expect(msg).toMatch(/^Model is not loaded: no thread can be started: /);
      }
      expect(await running.stop()).toEqual({ code: 0, signal: null });
      expect(running.stderr).toBe('');
      const outcome = loaded ? 'loaded' : 'not loaded';
      seen[outcome] = (seen[outcome] ?? 0) + 1;
    }
    report('threads', { service: service.name, ...seen });
    expect(Object.values(seen).length).toBeGreaterThan(0);
  });

  // One closes the engine, the other one frees the model.
  it.each([1, 2])('at the end, number %d, does not keep it from ending', async (place) => {
    const running = await start(service, '2');
    expect((await post(running, service.path, service.body)).status).toBe(200);
    faults.failThread(place);
    expect(await running.stop()).toEqual({ code: 0, signal: null });
    expect(faults.threads).toBe(2);
    expect(running.stderr).toBe('');
  });
});
