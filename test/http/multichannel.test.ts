import { type Answer, post, request } from '../helpers/http';
import {
  byName,
  CHANNELS,
  CLASSES,
  framesOf,
  golden,
  LENGTH,
  MODEL,
  RATE,
  rowsAt,
  STEP,
} from '../helpers/multichannel';
import { killAll, type Service, startService } from '../helpers/service';
import { StreamClient } from '../helpers/streams';

let service: Service;
beforeAll(async () => {
  service = await startService('serve', { args: [MODEL] });
  await service.waitForLog(({ msg }) => msg === 'models loaded');
});
afterAll(killAll);

function expectScores(actual: unknown, wanted: readonly number[] | undefined): void {
  const found = actual as Readonly<Record<string, number>>;
  expect(Object.keys(found)).toEqual(CLASSES);
  for (const [index, name] of CLASSES.entries()) {
    expect(Math.abs((found[name] as number) - (wanted?.[index] as number))).toBeLessThan(6e-5);
  }
}

interface Result {
  readonly diagnosis: string;
  readonly probabilities: object;
  readonly interpolated: readonly string[];
}

async function predictAll(body: object): Promise<readonly Result[]> {
  const { status, json } = await post(service, '/predict/batch', body);
  expect(status).toBe(200);
  return (json as { readonly results: readonly Result[] }).results;
}

describe('POST /predict of a model of several channels', () => {
  it('classifies channels by name in any order, and rows', async () => {
    const rows = rowsAt(STEP);
    const signals = Object.fromEntries(Object.entries(byName(rows)).reverse());
    const bodies = [
      { signals, patient_id: 'p' },
      { signals: rows, patient_id: 'p' },
      { signals: [...rows].reverse(), channels: [...CHANNELS].reverse(), patient_id: 'p' },
    ];
    const answers = await Promise.all(bodies.map((body) => post(service, '/predict', body)));
    const scores = golden.alone[1] as readonly number[];
    const top = scores.indexOf(Math.max(...scores));
    for (const { status, json } of answers) {
      expect([status, json]).toEqual([
        200,
        {
          patient_id: 'p',
          diagnosis: CLASSES[top],
          confidence: expect.closeTo(scores[top] as number, 3),
          interpolated: [],
        },
      ]);
    }
  });

  it('gives the probabilities of SciPy and PyTorch', async () => {
    const windows = golden.alone.map((_, index) => rowsAt(index * STEP));
    const results = await predictAll({ windows });
    expect(results).toHaveLength(golden.alone.length);
    for (const [index, { probabilities }] of results.entries()) {
      expectScores(probabilities, golden.alone[index]);
    }
  });

  it('finds channels by older names and prefixes', async () => {
    const names = CHANNELS.map((name) => `EEG ${name}-Ref`);
    const [result] = await predictAll({ windows: [rowsAt(0)], channels: names });
    expectScores(result?.probabilities, golden.alone[0]);
  });

  it('interpolates a missing channel, and names it', async () => {
    const { Cz: _, ...signals } = byName(rowsAt(0));
    const answer = await post(service, '/predict', { signals });
    expect(answer).toMatchObject({ status: 200, json: { interpolated: ['Cz'] } });
  });

  it('resamples to the rate of the model', async () => {
    const doubled = rowsAt(0).map((row) => row.flatMap((value) => [value, value]));
    const answer = await post(service, '/predict', { signals: doubled, sampling_rate_hz: 256 });
    expect(answer.status).toBe(200);
  });

  const rows = rowsAt(0);
  it.each<readonly [string, object, number, string | RegExp]>([
    ['no signals', {}, 422, 'signals: is required'],
    ['a string', { signals: 'x' }, 422, /^signals: expected an object of channels/],
    ['no channel', { signals: {} }, 422, 'signals: expected 1 to 1024 channels, found 0'],
    [
      'a wrong sample',
      { signals: { ...byName(rows), Cz: [null] } },
      422,
      'signals.Cz[0]: expected a number',
    ],
    [
      'a short channel',
      { signals: { ...byName(rows), Cz: [1] } },
      400,
      'signals.Cz: expected 64 samples at 128 Hz, found 1',
    ],
    [
      'a missing row',
      { signals: rows.slice(1) },
      422,
      /^signals: expected 5 rows, one for each of Fp1, .*; found 4$/,
    ],
    [
      'too few channels',
      { signals: { Fp1: rows[0] } },
      422,
      /^signals: missing channels “Fp2”, .* at least 4 channels of the model, found 1$/,
    ],
    ['a rate', { signals: rows, sampling_rate_hz: 0 }, 422, /^sampling_rate_hz: expected a rate/],
    [
      'an odd rate',
      { signals: rows, sampling_rate_hz: 199_999.999 },
      422,
      /^signals: cannot resample from 199999.999 to 128 Hz/,
    ],
    [
      'huge samples',
      { signals: rows.map((row) => row.map(() => 1.7e308)) },
      422,
      /^signals: a sample is too large/,
    ],
    ['names', { signals: rows, channels: [1] }, 422, 'channels[0]: expected a string'],
  ])('refuses %s', async (_name, body, status, detail) => {
    const answer: Answer = await post(service, '/predict', body);
    expect(answer.status).toBe(status);
    const found = (answer.json as { readonly detail: string }).detail;
    if (typeof detail === 'string') expect(found).toBe(detail);
    else expect(found).toMatch(detail);
  });

  it('names the window of a batch that is wrong', async () => {
    const { status, json } = await post(service, '/predict/batch', {
      windows: [rows, rows.slice(1)],
    });
    expect(status).toBe(422);
    expect((json as { readonly detail: string }).detail).toMatch(/^windows\[1\].*expected 5 rows/);
  });
});

describe('other routes of a model of several channels', () => {
  it('lists its channels in GET /info', async () => {
    const { json } = await request(service, { path: '/models/multichannel/info' });
    expect(json).toMatchObject({
      model: {
        channels: CHANNELS,
        unit: 'uV',
        window_length: LENGTH,
        sampling_rate_hz: RATE,
        interpolates: true,
      },
    });
  });

  it('takes tensors of the Open Inference Protocol', async () => {
    const data = [0, 1].flatMap((index) => rowsAt(index * STEP).flat());
    const { status, json } = await post(service, '/v2/models/multichannel/infer', {
      inputs: [{ name: 'SIGNAL', datatype: 'FP32', shape: [2, CHANNELS.length, LENGTH], data }],
      outputs: [{ name: 'PROBABILITIES' }],
    });
    expect(status).toBe(200);
    const [output] = (json as { readonly outputs: readonly { readonly data: readonly number[] }[] })
      .outputs;
    const wanted = golden.alone.slice(0, 2).flat();
    expect(output?.data.map((p, i) => Math.abs(p - (wanted[i] as number)) < 1e-5)).toEqual(
      wanted.map(() => true),
    );
  });
});

describe('streams of a model of several channels', () => {
  async function windowsOf(first: object, send: (client: StreamClient) => void) {
    const client = await StreamClient.open(service, { sampling_rate_hz: RATE, ...first });
    send(client);
    client.say({ end: true });
    expect((await client.closed).code).toBe(1000);
    return client;
  }

  it('keeps the state of filters, in JSON, frames and float32', async () => {
    const all = framesOf(golden.signal);
    const clients = await Promise.all([
      windowsOf({}, (client) => {
        for (let at = 0; at < all.length; at += 37) client.say(all.slice(at, at + 37));
      }),
      windowsOf({}, (client) => client.say({ samples: all.flat() })),
      windowsOf({ format: 'f32', channels: CHANNELS }, (client) => {
        for (let at = 0; at < all.length; at += 50) client.float32(all.slice(at, at + 50).flat());
      }),
    ]);
    for (const client of clients) {
      expect(client.messages[0]).toMatchObject({
        channels: CHANNELS,
        interpolated: [],
        step: STEP,
        window_length: LENGTH,
      });
      expect(client.windows).toHaveLength(golden.windows.length);
      for (const [index, { probabilities, first_sample }] of client.windows.entries()) {
        expect(first_sample).toBe(index * STEP);
        expectScores(probabilities, golden.windows[index]);
      }
    }
  });

  it('makes no prediction for windows with missing values', async () => {
    const all: (number | null)[][] = framesOf(golden.signal);
    (all[100] as (number | null)[])[2] = null;
    const { windows } = await windowsOf({}, (client) => client.say(all));
    const bad = windows.map(({ quality }) => (quality as { problems: string[] }).problems);
    expect(bad.map((problems) => problems.includes('not_finite'))).toEqual(
      windows.map((_, index) => index * STEP <= 100 && 100 < index * STEP + LENGTH),
    );
  });

  it('resamples frames of other channels', async () => {
    const names = [...CHANNELS.slice(1), 'EOG'];
    const doubled = framesOf(golden.signal).flatMap((frame) => [frame, frame]);
    const { messages, windows } = await windowsOf(
      { sampling_rate_hz: 256, channels: names },
      (client) => client.say(doubled),
    );
    expect(messages[0]).toMatchObject({
      channels: names,
      interpolated: ['Fp1'],
      resampled_to_hz: 128,
      step: 64,
    });
    expect(windows).toHaveLength(golden.windows.length);
  });

  it.each<readonly [string, object, unknown, RegExp]>([
    ['missing channels', { channels: ['Fp1'] }, [], /^channels: missing channels/],
    [
      'values of part of a frame',
      {},
      [1, 2, 3],
      /^samples: expected frames of 5 channels, found 3 values$/,
    ],
    ['a short frame', {}, [[1, 2, 3, 4, 5], [1]], /^samples\[1\]: expected a frame of 5 numbers$/],
    [
      'a frame with a string',
      {},
      [[1, 2, 3, 4, 'x']],
      /^samples\[0\]\[4\]: expected a number or null$/,
    ],
  ])('refuses %s', async (_name, first, samples, detail) => {
    const client = await StreamClient.open(service, { sampling_rate_hz: RATE, ...first });
    client.say(samples);
    expect((await client.closed).code).not.toBe(1000);
    const { error } = await client.first('error');
    expect((error as { readonly detail: string }).detail).toMatch(detail);
  });
});
