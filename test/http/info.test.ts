import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { analyze, post, request } from '../helpers/http';
import { untilQueued } from '../helpers/metrics';
import { killAll, ROOT, type Service, startService, textModel } from '../helpers/service';
import { expectError, SERVICE_CASES } from '../helpers/services';

const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};

afterAll(killAll);

async function infoOf(service: Service): Promise<unknown> {
  const { status, json } = await request(service, { path: '/info' });
  expect(status).toBe(200);
  return json;
}

describe('GET /info', () => {
  it('describes the shipped sentiment model', async () => {
    const env = { MAX_LIST_LENGTH: '10', BODY_LIMIT: '2mb', REQUEST_TIMEOUT_MS: '7000' };
    const service = await startService('sentiment', { env });
    // Beside what protocols have there.
    expect(await infoOf(service)).toMatchObject({
      service: 'sentiment',
      version,
      model: {
        name: 'sst2-minilm',
        version: '1.0.0',
        loaded: true,
        reason: null,
        labels: ['NEGATIVE', 'POSITIVE'],
        max_length: 512,
        dtype: 'float32',
      },
      limits: {
        body_bytes: 2 * 1024 ** 2,
        response_bytes: 32 * 1024 ** 2,
        list_length: 10,
        request_timeout_ms: 7000,
      },
    });
    await service.stop();
  });

  it('describes the shipped EEG model', async () => {
    const service = await startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg') });
    expect(await infoOf(service)).toMatchObject({
      service: 'eeg',
      model: {
        name: 'ds004504-t3-cnn',
        version: '1.0.0',
        loaded: true,
        classes: ['Control', "Alzheimer's Disease (AD)", 'Frontotemporal Dementia (FTD)'],
        window_length: 256,
        sampling_rate_hz: 95,
        channel: 'T3',
        dtype: 'float32',
      },
      limits: { list_length: 1024 },
    });
    await service.stop();
  });

  it('names a model without a name after its folder', async () => {
    const service = await startService('sentiment', { env: textModel('bert-single-label') });
    expect(await infoOf(service)).toMatchObject({
      model: { name: 'bert-single-label', version: null },
    });
    await service.stop();
  });
});

describe('a model that is not loaded', () => {
  it.each([
    ['sentiment', 'model: expected a model directory, found none'],
    ['eeg', /^eeg_model\.pt: /],
  ] as const)('%s: is not ready, and says why without a path', async (name, reason) => {
    const unloadable = SERVICE_CASES.find((one) => one.name === name)?.unloadable ?? {};
    const service = await startService(name, { env: unloadable });
    const info = (await infoOf(service)) as { model: { loaded: boolean; reason: string } };
    expect(info.model).toMatchObject({ loaded: false, version: null });
    expect(info.model.reason).toMatch(reason);
    expect(info.model.reason).not.toMatch(/nonexistent/);
    const answer = await request(service, { path: '/ready' });
    expectError(answer, 503, `Model is not loaded: ${info.model.reason}`);
    // It will not get better by waiting.
    expect(answer.headers).not.toHaveProperty('retry-after');
    await service.stop();
  });
});

describe('GET /ready', () => {
  it('is 200 until the service drains', async () => {
    const env = {
      ...textModel('bert-single-label'),
      MAX_QUEUE_DELAY_MS: '3000',
      MAX_QUEUE_REQUESTS: '1',
    };
    const service = await startService('sentiment', { env });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const ready = await request(service, { path: '/ready', agent });
    expect([ready.status, ready.text]).toEqual([200, '{"ready":true}']);
    // Something that keeps it from ending.
    const accepted = analyze(service, 'good');
    await untilQueued(service, 1);
    await service.beginStop();
    const draining = await request(service, { path: '/ready', agent });
    expectError(draining, 503, 'The service is shutting down.');
    expect(draining.headers['retry-after']).toBe('1');
    expect((await accepted).status).toBe(200);
    agent.destroy();
  });

  it('answers GET and HEAD only, as /info does', async () => {
    const service = await startService('sentiment', { env: textModel('bert-single-label') });
    for (const endpoint of ['/ready', '/info']) {
      expect((await request(service, { method: 'HEAD', path: endpoint })).status).toBe(200);
      const wrong = await post(service, endpoint, {});
      expect(wrong.headers.allow).toBe('GET, HEAD');
      expectError(wrong, 405, 'This path accepts GET, HEAD only.');
    }
    await service.stop();
  });
});
