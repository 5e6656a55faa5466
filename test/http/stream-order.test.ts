import path from 'node:path';
import { normal, seededRandom } from '../helpers/random';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { predictions, StreamClient, type StreamMessage, said } from '../helpers/streams';

const SHIPPED = { cwd: path.join(ROOT, 'models', 'eeg') };
const WINDOW = 256;
const NOTHING = { diagnosis: null, confidence: null, probabilities: null };

afterAll(killAll);

function signal(length: number): number[] {
  const random = seededRandom(5);
  return Array.from({ length }, (_, i) => 30 * Math.sin(i / 7) + 12 * normal(random));
}

/** Samples of which the model is asked about some windows, and about hundreds between them not. */
function withHoles(holes: readonly number[]): (number | null)[] {
  const all: (number | null)[] = signal(WINDOW + 3);
  for (const hole of holes) {
    all.push(...new Array<null>(hole).fill(null), ...signal(WINDOW + 3));
  }
  return all;
}

describe('windows that are complete while one before them is in the model', () => {
  let service: Service;
  /** What POST /predict says of the window that begins with this sample; nothing: there is none of it. */
  async function expectedOf(samples: readonly (number | null)[], step: number) {
    const starts: number[] = [];
    for (let start = 0; start + WINDOW <= samples.length; start += step) starts.push(start);
    const isWhole = (start: number) => !samples.slice(start, start + WINDOW).includes(null);
    const whole = starts.filter(isWhole);
    const windows = whole.map((start) => samples.slice(start, start + WINDOW) as number[]);
    const answers = await predictions(service, windows);
    const byStart = new Map(whole.map((start, index) => [start, answers[index]]));
    return starts.map((start, window) => ({
      window,
      first_sample: start,
      ...(byStart.get(start) ?? NOTHING),
    }));
  }

  function told(windows: readonly StreamMessage[]) {
    return windows.map((one) => ({
      window: one.window,
      first_sample: one.first_sample,
      ...said(one),
    }));
  }

  beforeAll(async () => {
    service = await startService('eeg', SHIPPED);
  });

  it.each<[string, readonly number[], number, object]>([
    ['200', [200], 1, {}],
    ['300', [300], 1, {}],
    ['600', [600], 1, {}],
    ['300, again and again', [300, 700, 256, 255, 257], 1, {}],
    ['600 by steps', [1500], 2, {}],
    ['600 with a deadline that is far', [600], 1, { deadline_ms: 600_000 }],
    ['600 with smoothing', [600], 1, { smoothing: { exponential: 0.5 } }],
  ])('each have their own answer, in order: %s', async (_, holes, step, options) => {
    const samples = withHoles(holes);
    const client = await StreamClient.open(service, { sampling_rate_hz: 95, step, ...options });
    client.say(samples);
    client.say({ end: true });
    expect((await client.closed).code).toBe(1000);
    expect(told(client.windows)).toEqual(await expectedOf(samples, step));
    expect(client.messages.at(-1)).toMatchObject({
      end: { windows: client.windows.length, skipped: 0 },
    });
  });

  it('have it after a broken connection as well', async () => {
    const samples = withHoles([600]);
    const expected = await expectedOf(samples, 1);
    for (const seen of [0, 1, 5, 100]) {
      let client = await StreamClient.open(service, { sampling_rate_hz: 95, step: 1 });
      const { stream } = await client.first('stream');
      client.say(samples);
      await client.when(() => client.windows.length >= seen);
      client.socket.terminate();
      await client.closed;
      const got = [...client.windows];
      client = await StreamClient.open(service, { resume: { stream, next_window: got.length } });
      const opened = await client.first('stream').catch(() => null);
      if (opened === null) {
        // Those that the client has not got are not kept for ever.
        expect((await client.closed).code).toBe(4409);
        continue;
      }
      client.say(samples.slice(opened.next_sample as number));
      client.say({ end: true });
      expect((await client.closed).code).toBe(1000);
      expect(told([...got, ...client.windows])).toEqual(expected);
    }
  });

  it('are left out with a deadline, and never told as another one', async () => {
    const samples = withHoles([300, 700]);
    const expected = await expectedOf(samples, 1);
    for (const deadline of [1, 2, 5, 20]) {
      const options = { sampling_rate_hz: 95, step: 1, deadline_ms: deadline };
      const client = await StreamClient.open(service, options);
      client.say(samples);
      client.say({ end: true });
      expect((await client.closed).code).toBe(1000);
      const windows = told(client.windows);
      expect(windows).toEqual(windows.map(({ window }) => expected[window as number]));
      expect(client.messages.at(-1)).toMatchObject({
        end: { windows: windows.length, skipped: expected.length - windows.length },
      });
    }
  });
});
