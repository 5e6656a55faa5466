import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { EegClient, ResponseError, SentimentClient } from '../../src/client';
import { killAll, ROOT, type Service, startService, textModel } from '../helpers/service';
import { SERVICE_CASES, SIGNAL } from '../helpers/services';
import { until } from '../helpers/until';

afterAll(killAll);

async function errorOf(call: Promise<unknown>): Promise<ResponseError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(ResponseError);
  return error as ResponseError;
}

describe('SentimentClient', () => {
  let service: Service;
  let client: SentimentClient;

  beforeAll(async () => {
    service = await startService('sentiment', { cwd: os.tmpdir() });
    client = new SentimentClient(`${service.origin}/`);
  });

  it('asks every route', async () => {
    expect(await client.health()).toEqual({ status: 'healthy', model_loaded: true });
    expect(await client.ready()).toBe(true);
    expect((await client.info()).model.labels).toEqual(['NEGATIVE', 'POSITIVE']);
    const answer = await client.analyze('good \ud800');
    expect(answer).toMatchObject({ input_text: 'good \ud800', label: 'POSITIVE' });
    const [first, second, ...more] = await client.analyzeBatch(['Dull.', 'A marvel.']);
    expect([first?.label, second?.label, more.length]).toEqual(['NEGATIVE', 'POSITIVE', 0]);
    expect(await client.analyzeBatch([])).toEqual([]);
  });

  it('asks of two texts at once', async () => {
    const [text, textPair] = ['A warm, funny film.', 'Dull.'];
    const alone = await client.analyze(text);
    expect(await client.analyze(text, { textPair: null })).toEqual(alone);
    const both = await client.analyze(text, { textPair });
    expect(both).toMatchObject({ input_text: text, input_text_pair: textPair });
    expect(both.score).not.toBe(alone.score);
    const list = await client.analyzeBatch([{ text, textPair }, text, { text }]);
    expect(list.map(({ input_text, input_text_pair }) => [input_text, input_text_pair])).toEqual([
      [text, textPair],
      [text, undefined],
      [text, undefined],
    ]);
    expect(list.map(({ score }) => score)).toEqual([both.score, alone.score, alone.score]);
  });

  it('rejects with what the service says', async () => {
    const error = await errorOf(client.analyzeBatch(['a', ' ']));
    expect(error).toMatchObject({
      status: 400,
      detail: 'texts[1]: Text payload cannot be empty.',
      message: '400: texts[1]: Text payload cannot be empty.',
      retryAfter: null,
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('brings a key, which wins over a header', async () => {
    const apiKey = 'the-key-of-the-client-test';
    const guarded = await startService('sentiment', {
      env: { ...textModel('bert-single-label'), API_KEY: apiKey },
    });
    const headers = { Authorization: 'Basic abc', 'x-request-id': 'kept' };
    const knowing = new SentimentClient(guarded.origin, { apiKey, headers });
    expect(await knowing.analyze('good')).toMatchObject({ input_text: 'good' });
    expect((await knowing.info()).service).toBe('sentiment');
    const stranger = new SentimentClient(guarded.origin, { headers });
    expect(await stranger.ready()).toBe(true);
    expect(await errorOf(stranger.analyze('good'))).toMatchObject({
      status: 401,
      detail: 'An API key is required in one header: "Authorization: Bearer KEY".',
      requestId: 'kept',
    });
    await guarded.stop();
    expect(() => new SentimentClient('http://x', { apiKey: 'secret key' })).toThrow(
      new TypeError('apiKey: expected visible ASCII characters without spaces'),
    );
  });

  it('gives up when told to', async () => {
    const reason = new Error('changed my mind');
    const aborted = { signal: AbortSignal.abort(reason) };
    await expect(client.analyze('good', aborted)).rejects.toBe(reason);
  });

  it('says when to try again, gives up in time, and is heard when it does', async () => {
    const env = {
      ...textModel('bert-single-label'),
      MAX_QUEUE_REQUESTS: '1',
      MAX_QUEUE_DELAY_MS: '4000',
    };
    const holding = await startService('sentiment', { env });
    const busy = new SentimentClient(holding.origin, { headers: { 'x-request-id': 'mine' } });
    const waiting = busy.analyze('good', { timeoutMs: 1000 });
    const gaveUp = expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    const error = await until('a refusal of the full queue', () =>
      busy.analyze('good', { timeoutMs: 200 }).then(
        () => null,
        (reason) => (reason instanceof ResponseError ? reason : null),
      ),
    );
    expect(error).toMatchObject({
      status: 503,
      detail: 'The queue is full.',
      retryAfter: 1,
      requestId: 'mine',
    });
    await gaveUp;
    await holding.waitForLog(({ status }) => status === 499);
    await holding.stop();
  });

  it('rejects where nobody answers', async () => {
    const server = http.createServer().listen(0);
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const nobody = new SentimentClient(`http://127.0.0.1:${port}`);
    await expect(nobody.ready()).rejects.toMatchObject({ name: 'TypeError' });
  });

  it('takes a proxy that answers with something else for an error', async () => {
    const server = http.createServer((_request, response) => {
      response.statusCode = 502;
      response.end('<html>Bad Gateway</html>');
    });
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const { port } = server.address() as AddressInfo;
    const error = await errorOf(new SentimentClient(`http://127.0.0.1:${port}/x`).health());
    expect(error).toMatchObject({ status: 502, detail: '<html>Bad Gateway</html>' });
    server.closeAllConnections();
    server.close();
  });
});

describe('EegClient', () => {
  it('asks every route, with arrays of any kind', async () => {
    const service = await startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg') });
    const client = new EegClient(service.origin);
    expect((await client.info()).model.window_length).toBe(256);
    const answer = await client.predict(Float64Array.from(SIGNAL), { patientId: 'p-1' });
    expect(answer).toEqual(await client.predict(SIGNAL, { patientId: 'p-1' }));
    expect(answer.patient_id).toBe('p-1');
    const results = await client.predictBatch([SIGNAL, Float64Array.from(SIGNAL)]);
    expect(results.map(({ patient_id }) => patient_id)).toEqual([null, null]);
    const error = await errorOf(client.predict([1]));
    expect(error.detail).toBe('Signal must contain exactly 256 data points.');
    await service.stop();
  });

  it('is not ready without a model', async () => {
    const unloadable = SERVICE_CASES.find(({ name }) => name === 'eeg')?.unloadable ?? {};
    const service = await startService('eeg', { env: unloadable });
    const client = new EegClient(service.origin);
    expect(await client.ready()).toBe(false);
    expect((await client.info()).model).toMatchObject({ loaded: false });
    expect(await errorOf(client.predict(SIGNAL))).toMatchObject({
      status: 500,
      detail: 'Model is not loaded.',
    });
    await service.stop();
  });
});
