import { startHolding } from '../helpers/holding';
import { type Answer, analyze, post } from '../helpers/http';
import { scrape, untilQueued } from '../helpers/metrics';
import { RawClient } from '../helpers/raw-clients';
import { killAll, type Service, startService, textModel } from '../helpers/service';
import { expectError } from '../helpers/services';
import { times } from '../helpers/times';

/** As many tokens as the model takes: milliseconds of work, on any machine. */
const LONG = 'a good film '.repeat(400);
const SHORT_WAIT = { ...textModel('bert-single-label'), WORKERS: '1', MAX_QUEUE_WAIT_MS: '1' };

afterEach(killAll);

function counted(answers: readonly Answer[], wanted: number): number {
  return answers.filter(({ status }) => status === wanted).length;
}

async function refusals(service: Service): Promise<Readonly<Record<string, number>>> {
  return (await scrape(service)).byLabel('libtorch_serve_http_requests_rejected_total', 'reason');
}

describe('a wait that would be too long', () => {
  it('is refused at once, says how long, and is counted', async () => {
    const service = await startService('sentiment', { env: SHORT_WAIT });
    const answers = await times(300, () => analyze(service, LONG));
    const [served, refused] = [counted(answers, 200), counted(answers, 503)];
    expect(served).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
    expect(served + refused).toBe(300);
    for (const answer of answers.filter(({ status }) => status === 503)) {
      expectError(
        answer,
        503,
        /^The wait (in the queue|for the service) would be about \d+ ms, over the limit of 1 ms\.$/,
      );
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    }
    const seen = await scrape(service);
    expect(seen.requests).toEqual({ '/analyze 200': served, '/analyze 503': refused });
    expect(await refusals(service)).toMatchObject({ queue_wait: refused, queue_full: 0 });
    expect(seen.value('libtorch_serve_queue_wait_limit_seconds')).toBe(0.001);
    expect(seen.value('libtorch_serve_queue_expected_wait_seconds')).toBeGreaterThanOrEqual(0);
    expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome').completed).toBe(served);
    // It is over: the next one is served.
    expect((await analyze(service, 'good')).status).toBe(200);
  });

  it('is one line a second in the log, and one for each request at level debug', async () => {
    const quiet = await startService('sentiment', { env: SHORT_WAIT });
    const answers = await times(300, () => analyze(quiet, LONG));
    const summed = (): number =>
      quiet.logs
        .filter(({ msg }) => msg === 'requests rejected unread')
        .reduce(
          (sum, { rejected }) => sum + ((rejected as Record<string, number>).queue_wait ?? 0),
          0,
        );
    const alone = (service: Service): number =>
      service.logs.filter(({ status }) => status === 503).length;
    await quiet.waitForLog(() => summed() + alone(quiet) === counted(answers, 503));

    const env = { ...SHORT_WAIT, LOG_LEVEL: 'debug' };
    const verbose = await startService('sentiment', { env });
    const again = await times(300, () => analyze(verbose, LONG));
    await verbose.waitForLog(() => alone(verbose) === counted(again, 503));
  });

  it('of a list is that of its first element', async () => {
    const service = await startService('sentiment', { env: SHORT_WAIT });
    const texts = Array(100).fill(LONG.slice(0, 1000));
    expect((await post(service, '/analyze/batch', { texts })).status).toBe(200);
  });
});

describe('X-Request-Timeout-Ms', () => {
  const within = (service: Service, ms: string) =>
    analyze(service, 'good', { headers: { 'x-request-timeout-ms': ms } });

  it('is the deadline of the request, at most REQUEST_TIMEOUT_MS', async () => {
    const service = await startHolding(60_000, { REQUEST_TIMEOUT_MS: '1000' });
    const passed = (ms: number) => `The deadline of ${ms} ms passed before the model ran.`;
    expectError(await within(service, '500'), 504, passed(500));
    expectError(await within(service, '3600000'), 504, passed(1000));
    const seen = await scrape(service);
    expect(seen.requests).toEqual({ '/analyze 504': 2 });
    expect(seen.value('libtorch_serve_batches_total')).toBe(0);
    expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome').expired).toBe(2);
  });

  it.each(['0', '-1', '1.5', 'soon', ''])('%j is a 400', async (value) => {
    const service = await startService('sentiment', { env: textModel('bert-single-label') });
    expectError(
      await within(service, value),
      400,
      'X-Request-Timeout-Ms: expected a whole number of milliseconds, at least 1.',
    );
  });

  it('that could not be kept is refused at once', async () => {
    const env = { ...SHORT_WAIT, MAX_QUEUE_WAIT_MS: '600000' };
    const service = await startService('sentiment', { env });
    const headers = { 'x-request-timeout-ms': '5' };
    const answers = await times(300, () => analyze(service, LONG, { headers }));
    const refused = answers.filter(({ status }) => status === 503);
    for (const answer of refused) {
      expectError(
        answer,
        503,
        /^The wait in the queue would be about \d+ ms, the deadline is in \d+ ms\.$/,
      );
    }
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].filter((status) => ![200, 503, 504].includes(status))).toEqual([]);
    expect(await refusals(service)).toMatchObject({ deadline: refused.length, queue_wait: 0 });
  });
});

it('a request is refused before its body is read', async () => {
  const service = await startHolding(60_000, { MAX_QUEUE_REQUESTS: '1' });
  const held = analyze(service, 'good');
  held.catch(() => undefined);
  await untilQueued(service, 1);
  const client = new RawClient(service);
  client.write('POST /analyze HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
  await client.receives(/^HTTP\/1\.1 503 Service Unavailable\r\n[\s\S]*The queue is full\./);
  client.leave();
});

it('500 requests whose clients leave are not run', async () => {
  const service = await startHolding(60_000, {
    MAX_BATCH_REQUESTS: '1000',
    MAX_BATCH_TOKENS: '100000',
  });
  const client = new AbortController();
  const { signal } = client;
  const gone = times(500, () => analyze(service, 'good', { signal }).catch(() => 'gone'));
  await untilQueued(service, 500);
  client.abort();
  expect(new Set(await gone)).toEqual(new Set(['gone']));
  await service.waitForLog(
    () => service.logs.filter(({ status }) => status === 499).length === 500,
  );
  const seen = await scrape(service);
  expect(seen.requests).toEqual({ '/analyze 499': 500 });
  expect(seen.value('libtorch_serve_batches_total')).toBe(0);
  expect(seen.value('libtorch_serve_queue_inputs')).toBe(0);
  expect(seen.byLabel('libtorch_serve_inputs_total', 'outcome')).toEqual({
    completed: 0,
    failed: 0,
    cancelled: 500,
    expired: 0,
    timed_out: 0,
    too_long: 0,
  });
});
