import path from 'node:path';
import { WebSocket as GlobalOfNode } from 'undici';
import { WebSocket } from 'ws';
import {
  EegClient,
  ResponseError,
  StreamError,
  type StreamInput,
  type StreamOptions,
  type StreamResult,
  type WebSocketClass,
} from '../../src/client';
import { all, blocksOf, clientOf, signal, whole } from '../helpers/sample-streams';
import { killAll, ROOT, type Service, startService, textModel } from '../helpers/service';
import { until } from '../helpers/until';

const SHIPPED = { cwd: path.join(ROOT, 'models', 'eeg') };
const WINDOW = 256;
const RATE = 95;

/** Node.js has undici's as its global one from 22 on. */
const SOCKETS: readonly (readonly [string, WebSocketClass])[] = [
  ['ws', WebSocket],
  ['the global one of Node.js', GlobalOfNode as unknown as WebSocketClass],
];

let service: Service;

beforeAll(async () => {
  service = await startService('eeg', SHIPPED);
});

afterAll(killAll);

async function errorOf(stream: AsyncIterable<StreamResult>): Promise<unknown> {
  return all(stream).then(
    () => undefined,
    (reason: unknown) => reason,
  );
}

describe('stream', () => {
  it.each(SOCKETS)('answers windows as predict does, by %s', async (_name, Kind) => {
    const samples = signal(2000);
    const client = new EegClient(service.origin, { WebSocket: Kind });
    const opened: unknown[] = [];
    const answers = await all(
      client.stream(blocksOf(samples), {
        samplingRateHz: RATE,
        step: 64,
        start: 100,
        patientId: 'p-7',
        firstWindow: 3,
        onOpen: (told) => opened.push(told),
      }),
    );
    const starts = Array.from({ length: 28 }, (_, index) => index * 64);
    const results = await client.predictBatch(
      starts.map((start) => samples.slice(start, start + WINDOW)),
    );
    expect(answers).toEqual(
      results.map(({ diagnosis, confidence, probabilities }, index) => ({
        window: 3 + index,
        first_sample: 100 + index * 64,
        time: expect.any(Number),
        diagnosis,
        confidence,
        probabilities,
        quality: expect.anything(),
      })),
    );
    expect(opened).toMatchObject([{ patient_id: 'p-7', resumed: false, next_sample: 100 }]);
  });

  it('takes float32, samples that are missing, gaps and times', async () => {
    const samples = signal(1400);
    const date = (seconds: number): string => new Date(seconds * 1000).toISOString();
    const start = 1_800_000_000;
    const told = [
      samples.slice(0, 600),
      { gap: 5 },
      [...samples.slice(605, 700), null, ...samples.slice(701, 1000)],
      { at: date(start + 1100 / 256), samples: samples.slice(1100) },
    ];
    const first = { sampling_rate_hz: 256, step: 64, start: date(start), smoothing: { median: 3 } };
    const options: StreamOptions = {
      samplingRateHz: 256,
      step: 64,
      start: date(start),
      smoothing: { median: 3 },
    };
    const client = clientOf(service.origin);
    const expected = await whole(service, told, first);
    expect(expected.filter((one) => 'gap' in one)).toHaveLength(2);
    expect(await all(client.stream(told as StreamInput[], options))).toEqual(expected);
    // A source may use one buffer again and again.
    const buffer = new Float32Array(100);
    function* buffers(): Generator<Float32Array> {
      for (let at = 0; at < 1400; at += 100) {
        buffer.set(samples.slice(at, at + 100));
        yield buffer;
      }
    }
    const rounded = Array.from(Float32Array.from(samples));
    const json = await all(client.stream([rounded], options));
    expect(json).toEqual(await whole(service, [rounded], first));
    expect(await all(client.stream(buffers(), { ...options, format: 'f32' }))).toEqual(json);
  });

  it('brings a key', async () => {
    const apiKey = 'the-key~of?client>streams';
    const guarded = await startService('eeg', { ...SHIPPED, env: { API_KEY: apiKey } });
    const options = { samplingRateHz: RATE };
    const samples = [signal(WINDOW)];
    for (const [, Kind] of SOCKETS) {
      const knowing = clientOf(guarded.origin, { apiKey, WebSocket: Kind });
      expect(await all(knowing.stream(samples, options))).toHaveLength(1);
    }
    const headers = { authorization: `Bearer ${apiKey}` };
    expect(await all(clientOf(guarded.origin, { headers }).stream(samples, options))).toHaveLength(
      1,
    );
    const error = await errorOf(clientOf(guarded.origin).stream(samples, options));
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({ status: 401 });
    await guarded.stop();
  });

  it('rejects with what the service says', async () => {
    const client = clientOf(service.origin);
    const error = await errorOf(client.stream([signal(300)], { samplingRateHz: 256, step: 2 }));
    expect(error).toBeInstanceOf(StreamError);
    expect(error).toMatchObject({ code: 4400, detail: expect.stringMatching(/^step: expected/) });
    const texts = await startService('sentiment', { env: textModel('bert-single-label') });
    const none = await errorOf(clientOf(texts.origin).stream([], { samplingRateHz: RATE }));
    expect(none).toMatchObject({ name: 'ResponseError', status: 404 });
    await texts.stop();
    const nobody = clientOf(texts.origin).stream([], { samplingRateHz: RATE, retries: 1 });
    expect(await errorOf(nobody)).toMatchObject({ name: 'TypeError' });
  });

  it('rejects with what is wrong with its source, after all answers to what was before', async () => {
    const client = clientOf(service.origin);
    const cases: readonly (readonly [unknown, object])[] = [
      [
        'text',
        {
          message:
            'source[1]: expected an array of samples, or an object with `samples`, `at` or `gap`',
        },
      ],
      [[1, 'two'], { message: 'source[1][1]: expected a number or null' }],
      [{ gap: 0 }, { message: 'source[1].gap: expected a number of samples, at least 1' }],
      [{ at: 'noon' }, { name: 'TypeError', message: expect.stringMatching(/^source\[1\]\.at: /) }],
      [{ at: 3 }, { name: 'RangeError', message: expect.stringMatching(/goes back by 253/) }],
    ];
    for (const [wrong, expected] of cases) {
      const stream = client.stream([signal(WINDOW), wrong as StreamInput], {
        samplingRateHz: RATE,
      });
      expect(await stream.next()).toMatchObject({ value: { window: 0 } });
      await expect(stream.next()).rejects.toMatchObject(expected);
    }
    const place = { samplingRateHz: RATE, start: -1 };
    expect(() => client.stream([], place)).toThrow('start: expected');
    expect(() => client.stream(5 as never, place)).toThrow(TypeError);
    const without = new EegClient(service.origin);
    const hasNone = !('WebSocket' in globalThis);
    if (hasNone) expect(() => without.stream([], { samplingRateHz: RATE })).toThrow('WebSocket: ');
  });

  it('ends with its signal, or when it is left, and closes its source', async () => {
    const samples = signal(WINDOW);
    let closed = 0;
    async function* endless(): AsyncGenerator<number[]> {
      try {
        for (;;) yield samples;
      } finally {
        closed++;
      }
    }
    const controller = new AbortController();
    const options = { samplingRateHz: RATE, signal: controller.signal };
    const client = clientOf(service.origin);
    const stream = client.stream(endless(), options);
    await stream.next();
    const waiting = errorOf(stream);
    controller.abort(new Error('enough'));
    expect(await waiting).toMatchObject({ message: 'enough' });
    expect(await errorOf(client.stream(endless(), options))).toMatchObject({ message: 'enough' });
    for await (const _answer of client.stream(endless(), { samplingRateHz: RATE })) break;
    await until('closed sources', () => closed === 2);
  });

  it('reads its source no faster than its answers are taken', async () => {
    const samples = signal(60_000);
    let read = 0;
    function* counted(): Generator<number[]> {
      for (; read < samples.length; read += 100) yield samples.slice(read, read + 100);
    }
    const options = { samplingRateHz: RATE, step: 4 };
    const stream = clientOf(service.origin).stream(counted(), options);
    const answers: StreamResult[] = [(await stream.next()).value as StreamResult];
    let before = -1;
    await until(
      'a source that is not read any more',
      () => {
        const stands = read === before;
        before = read;
        return stands;
      },
      { everyMs: 300 },
    );
    // 128 windows, one, and what is read ahead.
    expect(read).toBeLessThanOrEqual(129 * 4 + WINDOW + 4096 + 100);
    for await (const answer of stream) answers.push(answer);
    expect(answers).toHaveLength((samples.length - WINDOW) / 4 + 1);
  });
});
