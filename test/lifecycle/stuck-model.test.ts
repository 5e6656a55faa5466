import path from 'node:path';
import { predict, request } from '../helpers/http';
import { type Scrape, scrape, untilScraped } from '../helpers/metrics';
import { killAll, NodeProcess, type Service } from '../helpers/service';
import { expectError } from '../helpers/services';
import { CALM, ENDLESS, eegModel, SLOW, startEeg } from '../helpers/stuck';

const SCRIPTS = path.join(__dirname, 'scripts');
/** Far longer than a run that does come back. */
const TIMEOUT = { INFERENCE_TIMEOUT_MS: '1000' };
const STUCK = /^The model is stuck in a batch for \d+ ms\.$/;
const NEVER = '1000000000';

afterAll(killAll);

const get = (service: Service, endpoint: string) => request(service, { path: endpoint });

/** Until so many requests have arrived and are not answered. */
function inFlight(service: Service, requests: number): Promise<Scrape> {
  const withThis = requests + 1;
  return untilScraped(`${requests} requests in flight`, service, (seen) => {
    return seen.value('libtorch_serve_http_requests_in_flight') === withThis;
  });
}

describe('a model that does not come back from a batch', () => {
  it('answers 504 once, makes the service not ready, and does not keep SIGTERM from ending it', async () => {
    const service = await startEeg('slow-on-large-input', {
      ...TIMEOUT,
      INFERENCE_GRACE_MS: NEVER,
      SHUTDOWN_TIMEOUT_MS: NEVER,
      MAX_QUEUE_WAIT_MS: '500',
    });
    expect((await predict(service, CALM)).status).toBe(200);
    expect((await get(service, '/ready')).status).toBe(200);
    expectError(await predict(service, ENDLESS), 504, 'The model ran longer than 1000 ms.');
    expectError(await get(service, '/ready'), 503, STUCK);
    expect((await get(service, '/health')).status).toBe(200);
    // No worker is left that could run it.
    expectError(await predict(service, CALM), 503, /over the limit of 500 ms\.$/);
    const metrics = await scrape(service);
    expect(metrics.byLabel('libtorch_serve_inputs_total', 'outcome')).toEqual({
      completed: 1,
      cancelled: 0,
      expired: 0,
      failed: 0,
      timed_out: 1,
      too_long: 0,
    });
    expect(metrics.value('libtorch_serve_http_requests_timed_out_total')).toBe(1);
    expect(metrics.value('libtorch_serve_batches_total')).toBe(2);
    await service.waitForLog(({ level }) => level === 'error');
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(service.stderr).toBe('');
  });

  it('ends the service with 3 when it is not back after the time of grace, and answers who waits', async () => {
    const service = await startEeg('slow-on-large-input', {
      ...TIMEOUT,
      INFERENCE_GRACE_MS: '2000',
      MAX_BATCH_REQUESTS: '1',
      MAX_QUEUE_WAIT_MS: '60000',
    });
    const stuck = predict(service, ENDLESS);
    await inFlight(service, 1);
    const waiting = predict(service, CALM);
    expectError(await stuck, 504, 'The model ran longer than 1000 ms.');
    expectError(await waiting, 503, 'The service is shutting down.');
    expect(await service.exit).toEqual({ code: 3, signal: null });
    const said = service.logs.filter(({ level }) => level === 'error' || level === 'fatal');
    expect(said.map(({ level, msg }) => [level, msg])).toEqual([
      [
        'error',
        'hung model: requests of the batch got 504, the process exits after the grace period',
      ],
      ['fatal', 'exiting: hung model'],
    ]);
    expect(service.logs.at(-1)?.msg).toBe('stopped');
    expect(service.stderr).toBe('');
  });

  it('but then does makes the service ready again, and nobody gets its late answer', async () => {
    const service = await startEeg('slow-on-large-input', {
      ...TIMEOUT,
      INFERENCE_GRACE_MS: NEVER,
    });
    const before = await predict(service, CALM);
    expectError(await predict(service, SLOW), 504, 'The model ran longer than 1000 ms.');
    await service.waitForLog(({ msg }) => msg === 'hung model recovered');
    expect((await get(service, '/ready')).status).toBe(200);
    const after = await predict(service, CALM);
    expect([after.status, after.text]).toEqual([200, before.text]);
    expect((await scrape(service)).byLabel('libtorch_serve_inputs_total', 'outcome')).toMatchObject(
      { completed: 2, timed_out: 1 },
    );
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(service.logs.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it.each([
    ['SHUTDOWN_TIMEOUT_MS', { SHUTDOWN_TIMEOUT_MS: '100' }, 1],
    ['a second SIGTERM', { SHUTDOWN_TIMEOUT_MS: NEVER }, 143],
  ])('does not keep %s from ending it before its limit', async (what, env, code) => {
    const service = await startEeg('slow-on-large-input', env);
    const stuck = predict(service, ENDLESS);
    stuck.catch(() => undefined);
    await inFlight(service, 1);
    await service.beginStop();
    const insists = what === 'a second SIGTERM';
    const exit = insists ? service.insist('SIGTERM') : service.exit;
    expect(await exit).toEqual({ code, signal: null });
    await expect(stuck).rejects.toThrow();
    expect(service.stderr).toBe('');
  });
});

describe('an endless loop', () => {
  it('that one window makes is ended: 504, and the worker serves on', async () => {
    const service = await startEeg('endless-on-large-input', TIMEOUT);
    for (let round = 0; round < 2; round++) {
      expectError(await predict(service, SLOW), 504, 'The model ran longer than 1000 ms.');
      expect((await predict(service, CALM)).status).toBe(200);
      expect((await get(service, '/ready')).status).toBe(200);
    }
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  it.each([
    ['in forward()', 'endless-loop'],
    ['in a fork', 'endless-fork'],
    ['or an operator that does not end', 'slow-always'],
  ])('%s, at load (%s.pt), is a load error, and the service serves', async (_where, model) => {
    const service = await startEeg(model, TIMEOUT);
    const why = `${model}.pt: forward() did not end within 1000 ms in the load-time check. Increase INFERENCE_TIMEOUT_MS unless it has an endless loop`;
    expect(service.logs[0]).toMatchObject({
      level: 'error',
      msg: `Model is not loaded: ${why}`,
    });
    expectError(await get(service, '/ready'), 503, `Model is not loaded: ${why}`);
    expectError(await predict(service, CALM), 500, 'Model is not loaded.');
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(service.stderr).toBe('');
  });
});

it('a service that is told to stop while its model hangs at load ends with 0', async () => {
  const service = new NodeProcess({
    nodeArgs: ['--require', path.join(SCRIPTS, 'preload-stop-early.cjs')],
    args: ['eeg'],
    env: { ...eegModel('slow-always'), HOST: '127.0.0.1', PORT: '0', INFERENCE_TIMEOUT_MS: NEVER },
  });
  expect(await service.exit).toEqual({ code: 0, signal: null });
  expect(service.logs.at(-1)?.msg).toBe('stopped');
  expect(service.stderr).toBe('');
});

/** [way, exit code, standard output]; a crash would be a signal instead of a code. */
it.each([
  ['exit', 7, 'INFERENCE_TIMEOUT\n'],
  ['exit-before-the-limit', 7, ''],
  ['exit-during-load', 8, ''],
  ['closed', 0, 'INFERENCE_TIMEOUT\nclosed\n'],
  ['terminated-worker', 0, 'answered\n'],
])(
  'a program whose model is stuck and that ends by %s has exit code %d',
  async (way, code, stdout) => {
    const program = new NodeProcess({ script: path.join(SCRIPTS, 'stuck.cjs'), args: [way] });
    const exit = await program.exit;
    expect({ ...exit, stdout: program.stdout, stderr: program.stderr }).toEqual({
      code,
      signal: null,
      stdout,
      stderr: '',
    });
  },
);
