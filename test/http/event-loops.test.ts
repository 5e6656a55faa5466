/** Several event loops over one model: one service to whoever asks. */
import path from 'node:path';
import { askAll } from '../helpers/event-loops';
import { Folder } from '../helpers/files';
import { startHolding } from '../helpers/holding';
import { post, request } from '../helpers/http';
import { scrape, untilQueued } from '../helpers/metrics';
import { EEG_MODEL, killAll, type Service, startService, textModel } from '../helpers/service';
import { expectError, SERVICE_CASES, SIGNAL } from '../helpers/services';
import { CALM, ENDLESS, startEeg } from '../helpers/stuck';
import { times } from '../helpers/times';
import { until } from '../helpers/until';

const LOOPS = 3;
const env = { EVENT_LOOPS: String(LOOPS) };
const MODEL = textModel('bert-single-label');
const FAIL = path.join(__dirname, 'scripts', 'fail-in-threads.cjs');

const folder = new Folder();
afterAll(async () => {
  await killAll();
  folder.remove();
});

describe.each(SERVICE_CASES)('$name', ({ name, path: route, body, options }) => {
  let service: Service;
  let answers: Awaited<ReturnType<typeof askAll>>;

  beforeAll(async () => {
    service = await startService(name, { env: { ...options.env, ...env } });
    answers = await askAll(service, { route, loops: LOOPS }, () => post(service, route, body));
  });

  it('is answered by all of them, and by all alike', () => {
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('has one log, of whole lines', () => {
    const lines = service.stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(service.logs.length);
    const requests = service.logs.filter((line) => line.route === route);
    expect(requests).toHaveLength(answers.length);
    expect(new Set(requests.map(({ requestId }) => requestId)).size).toBe(answers.length);
  });

  it('has one /metrics, whoever is asked', async () => {
    const count = answers.length;
    const scrapes = await Promise.all(Array.from({ length: 24 }, () => scrape(service)));
    for (const metrics of scrapes) {
      expect(metrics.requests).toEqual({ [`${route} 200`]: count });
      expect(metrics.value('libtorch_serve_queue_duration_seconds_count')).toBe(count);
      expect(metrics.byLabel('libtorch_serve_inputs_total', 'outcome').answered).toBe(count);
      const batches = metrics.value('libtorch_serve_batches_total');
      expect(metrics.value('libtorch_serve_batch_size_inputs_count')).toBe(batches);
      expect(metrics.value('libtorch_serve_batch_size_inputs_sum')).toBe(count);
      expect(metrics.value('libtorch_serve_model_loaded')).toBe(1);
      expect(metrics.value('libtorch_serve_queue_limit_inputs')).toBe(2048);
    }
  });

  it('has one set of statistics of the model', async () => {
    const stats = { path: `/v2/models/${name}/stats` };
    for (let i = 0; i < 12; i++) {
      const [model] = ((await request(service, stats)).json as Statistics).model_stats;
      expect(model?.inference_count).toBe(answers.length);
      expect(model?.inference_stats.success.count).toBe(answers.length);
      const runs = model?.batch_stats.map(({ compute_infer }) => compute_infer.count) ?? [];
      expect(runs.reduce((sum, count) => sum + count, 0)).toBe(model?.execution_count);
    }
  });

  it('ends as one', async () => {
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(service.stderr).toBe('');
    expect(service.logs.filter(({ msg }) => msg === 'stopped')).toHaveLength(1);
  });
});

interface Statistics {
  readonly model_stats: readonly {
    readonly inference_count: number;
    readonly execution_count: number;
    readonly inference_stats: { readonly success: { readonly count: number } };
    readonly batch_stats: readonly { readonly compute_infer: { readonly count: number } }[];
  }[];
}

describe('several event loops', () => {
  it('answer all that they have accepted when the service is to end', async () => {
    const service = await startHolding(5000, { ...env, MAX_BATCH_REQUESTS: '4096', WORKERS: '1' });
    const asked = Array.from({ length: 60 }, () => post(service, '/analyze', { text: 'good' }));
    await untilQueued(service, asked.length);
    service.kill('SIGTERM');
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await service.exit).toEqual({ code: 0, signal: null });
  });

  it('all refuse once the service is to be left, and still answer', async () => {
    const service = await startService('sentiment', {
      env: { ...MODEL, ...env, SHUTDOWN_DELAY_MS: '24000' },
    });
    await service.beginStop();
    // One may hear of it a moment later than another.
    const ready = () => request(service, { path: '/ready' });
    await until('each event loop to want to be left', async () => {
      const answers = await times(40, ready);
      return answers.every(({ status }) => status === 503);
    });
    expect((await post(service, '/analyze', { text: 'good' })).status).toBe(200);
    await service.insist('SIGTERM');
  });

  describe('with a file of keys', () => {
    const [OLD, FRESH] = ['the-first-key-of-the-test', 'another-key-of-the-same-test'] as const;
    const RELOADS = 'libtorch_serve_credential_reloads_total';

    async function start(name: string) {
      const keys = folder.put(name, `${OLD}\n`);
      const service = await startService('sentiment', {
        // At level debug each request that is refused for its key has a line.
        env: { ...MODEL, ...env, API_KEYS_FILE: keys, LOG_LEVEL: 'debug' },
      });
      /** What each event loop answers to a key. */
      const statuses = async (key: string): Promise<ReadonlySet<number>> => {
        const headers = { authorization: `Bearer ${key}` };
        const answers = await askAll(service, { route: '/analyze', loops: LOOPS }, () =>
          post(service, '/analyze', { text: 'good' }, { headers }),
        );
        return new Set(answers.map(({ status }) => status));
      };
      const reloads = async (key: string) => {
        const seen = await scrape(service, undefined, { authorization: `Bearer ${key}` });
        const of = (outcome: string) => seen.value(RELOADS, { credential: 'keys', outcome });
        return [of('renewed'), of('failed')];
      };
      return { service, statuses, reloads };
    }

    it('all know the new ones, and no other, once the log says so', async () => {
      const { service, statuses, reloads } = await start('renewed');
      folder.put('renewed', `${FRESH}\n`);
      service.kill('SIGHUP');
      await service.waitForLog(({ msg }) => msg === 'API_KEYS_FILE was read again');
      expect(await statuses(OLD)).toEqual(new Set([401]));
      expect(await statuses(FRESH)).toEqual(new Set([200]));
      expect(await reloads(FRESH)).toEqual([1, 0]);
      await service.stop();
    });

    it('all keep what they had where the file cannot be read, said and counted once', async () => {
      const { service, statuses, reloads } = await start('broken');
      folder.put('broken', `${FRESH}\nnó key\n`);
      service.kill('SIGHUP');
      const line = await service.waitForLog(({ level }) => level === 'error');
      expect(line.msg).toMatch(/line 2: expected a key .*; the keys stay as they were$/);
      expect(await statuses(OLD)).toEqual(new Set([200]));
      expect(await statuses(FRESH)).toEqual(new Set([401]));
      expect(await reloads(OLD)).toEqual([0, 1]);
      expect(service.logs.filter(({ level }) => level === 'error')).toHaveLength(1);
      await service.stop();
    });
  });

  it('all say that the model has not come back, and end with it', async () => {
    const service = await startEeg('slow-on-large-input', {
      ...{ INFERENCE_TIMEOUT_MS: '1000', INFERENCE_GRACE_MS: '4000', MAX_BATCH_REQUESTS: '1' },
      ...env,
    });
    const predict = (signal: readonly number[]) => post(service, '/predict', { signal });
    expect((await predict(CALM)).status).toBe(200);
    expectError(await predict(ENDLESS), 504, 'The model ran longer than 1000 ms.');
    const ready = await Promise.all(
      Array.from({ length: 12 }, () => request(service, { path: '/ready' })),
    );
    for (const answer of ready) expectError(answer, 503, /^The model has not come back/);
    expect(await service.exit).toEqual({ code: 3, signal: null });
  });

  it('are one where there is no model', async () => {
    const service = await startService('eeg', {
      env: { ...env, EEG_MODEL_PATH: '/nonexistent/eeg_model.pt' },
    });
    for (let i = 0; i < 12; i++) {
      const answer = await post(service, '/predict', { signal: SIGNAL });
      expectError(answer, 500, 'Model is not loaded.');
    }
    expect((await scrape(service)).requests).toEqual({ '/predict 500': 12 });
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  it('end the service when one of them meets an error that nobody catches', async () => {
    const failFile = path.join(folder.path, 'fail');
    const service = await startService('eeg', {
      env: { EEG_MODEL_PATH: EEG_MODEL, EVENT_LOOPS: '2', FAIL_FILE: failFile },
      nodeArgs: ['--require', FAIL],
    });
    folder.put('fail', '');
    expect(await service.exit).toEqual({ code: 1, signal: null });
    const fatal = service.logs.find(({ level }) => level === 'fatal');
    expect(fatal).toMatchObject({ msg: 'uncaught error', err: { message: 'on purpose' } });
    expect(service.logs.at(-1)?.msg).toBe('stopped');
  });
});
