import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { EegClient, SentimentClient } from '../../src/client';
import { startHolding } from '../helpers/holding';
import { scrape } from '../helpers/metrics';
import { freePort } from '../helpers/ports';
import { FIXTURES, killAll, startService, textModel } from '../helpers/service';
import { SIGNAL } from '../helpers/services';

const TEXTS = Array.from({ length: 40 }, (_, i) => `film number ${i}`);
const MODEL = textModel('bert-single-label');

afterAll(killAll);

describe('a queue that is full', () => {
  it('is asked again, not before it says, until every element is answered', async () => {
    // Four places, held for 100 ms each time, and eight lists of two that want them at once.
    const service = await startHolding(100, { MAX_QUEUE_REQUESTS: '4', WORKERS: '1' });
    const waits: number[] = [];
    const outcomes = [];
    const all = new SentimentClient(service.origin).analyzeAll(TEXTS, {
      batchSize: 2,
      concurrency: 8,
      onRetry: (error, waitMs) => {
        expect(error).toMatchObject({ status: 503, retryAfter: expect.any(Number) });
        waits.push(waitMs);
      },
    });
    for await (const one of all) outcomes.push(one.ok ? one.result.input_text : one.error.message);
    expect(outcomes).toEqual(TEXTS);
    expect(waits.length).toBeGreaterThan(0);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1000); // Retry-After: 1
    const after = await scrape(service);
    expect(after.requests['/analyze/batch 503']).toBe(waits.length);
    // None was answered twice.
    expect(after.byLabel('libtorch_serve_inputs_total', 'outcome')).toMatchObject({
      completed: TEXTS.length,
      cancelled: 0,
    });
    await service.stop();
  });
});

describe('a single call', () => {
  it('is sent again where it is told to, through the restart of its service', async () => {
    const port = await freePort();
    const client = new SentimentClient(`http://127.0.0.1:${port}`);
    await expect(client.analyze('good')).rejects.toMatchObject({ name: 'TypeError' });
    let starting: Promise<unknown> | undefined;
    const onRetry = (): void => {
      starting ??= startService('sentiment', { env: { ...MODEL, PORT: String(port) } });
    };
    const answer = await client.analyze('good', { retries: 100, onRetry });
    expect(answer.input_text).toBe('good');
    await starting;
    // Waits that end with the signal.
    await killAll();
    const controller = new AbortController();
    const call = client.analyze('good', {
      retries: 100,
      signal: controller.signal,
      onRetry: () => controller.abort(new Error('enough')),
    });
    await expect(call).rejects.toThrow('enough');
    const nowhere = new SentimentClient('nowhere');
    await expect(nowhere.analyze('good', { retries: 100 })).rejects.toThrow(/URL/);
  });

  /** Of a proxy that refuses everything, with this header. */
  async function waitsOf(status: number, retryAfter: string | null, retries: number) {
    const server = http.createServer((_request, response) => {
      if (retryAfter !== null) response.setHeader('retry-after', retryAfter);
      response.writeHead(status).end('busy');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const waits: number[] = [];
    const onRetry = (_error: Error, waitMs: number) => waits.push(waitMs);
    const call = new SentimentClient(`http://127.0.0.1:${port}`).health({ retries, onRetry });
    await expect(call).rejects.toMatchObject({ status });
    server.closeAllConnections();
    server.close();
    return waits;
  }

  it.each([408, 429, 502, 503])('waits longer each time, at random, after a %i', async (status) => {
    const waits = await waitsOf(status, null, 3);
    expect(waits).toHaveLength(3);
    for (const [i, wait] of waits.entries()) expect(wait).toBeLessThanOrEqual(250 * 2 ** i);
    expect(new Set(waits).size).toBe(3);
  });

  it('reads Retry-After as seconds and as a date, and does not wait for what is too late', async () => {
    const [seconds] = await waitsOf(503, '1', 1);
    expect(seconds).toBeGreaterThanOrEqual(1000);
    expect(seconds).toBeLessThanOrEqual(1250);
    const [date] = await waitsOf(429, new Date(Date.now() + 3000).toUTCString(), 1);
    expect(date).toBeGreaterThan(0);
    expect(date).toBeLessThanOrEqual(3250);
    expect(await waitsOf(503, '3600', 5)).toEqual([]);
  });

  it.each([400, 401, 404, 413, 500])('is not sent again after a %i', async (status) => {
    expect(await waitsOf(status, '0', 5)).toEqual([]);
  });
});

it('EEG windows: what the model fails on costs no other window', async () => {
  const EEG_MODEL_PATH = path.join(FIXTURES, 'eeg', 'raises-on-large-input.pt');
  const service = await startService('eeg', { env: { EEG_MODEL_PATH } });
  const client = new EegClient(service.origin);
  // z-normalized, a single spike has an amplitude of 16.
  const spike = Float32Array.from(SIGNAL, (_, i) => (i === 9 ? 1 : 0));
  const rows = Array.from({ length: 40 }, (_, id) => ({ id, signal: id === 21 ? spike : SIGNAL }));
  const windows = [...rows, { id: 40, signal: SIGNAL.slice(1) }, { id: 41, signal: [Number.NaN] }];
  const outcomes = [];
  for await (const one of client.predictAll(windows, { batchSize: 16, patientId: 'p-1' })) {
    outcomes.push([one.input.id, one.ok ? one.result.patient_id : one.error.message]);
  }
  const expected: unknown[] = windows.map(({ id }) => [id, 'p-1']);
  expected[21] = [21, expect.stringMatching(/^500: signals\[21\]: .*amplitude over 5$/)];
  expected[40] = [40, '400: signals[40]: Signal must contain exactly 256 data points.'];
  expected[41] = [41, '422: signals[41][0]: expected a number'];
  expect(outcomes).toEqual(expected);
  const [plain] = [...(await client.predictBatch([SIGNAL]))];
  for await (const one of client.predictAll([SIGNAL])) {
    expect(one).toEqual({ index: 0, input: SIGNAL, ok: true, result: plain });
  }
  await service.stop();
});
