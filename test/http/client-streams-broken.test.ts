/** Streams of the client whose connections break, and whose services go. */
import path from 'node:path';
import type { StreamInput, StreamOpened, StreamOptions, StreamResult } from '../../src/client';
import type { Address } from '../helpers/http';
import { all, blocksOf, clientOf, signal, whole } from '../helpers/sample-streams';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { TcpProxy } from '../helpers/tcp-proxy';
import { until } from '../helpers/until';

const SHIPPED = { cwd: path.join(ROOT, 'models', 'eeg') };
const SAMPLES = signal(6000);
/** Resampled to 95 Hz, and smoothed, so that a window needs more than its own samples. */
const FIRST = { sampling_rate_hz: 256, step: 64, smoothing: { median: 5 } };
const OPTIONS = { samplingRateHz: 256, step: 64, smoothing: { median: 5 } };

let service: Service;
let proxy: TcpProxy;

beforeAll(async () => {
  service = await startService('eeg', SHIPPED);
});

beforeEach(async () => {
  proxy = await TcpProxy.start(service);
});

afterEach(() => proxy.stop());
afterAll(killAll);

/**
 * Streams a source, of which nothing comes behind the given numbers of elements until something has been done and
 * the stream has been opened once more.
 *
 * @returns the answers, and what the service said each time
 */
async function disturbed(
  inputs: readonly StreamInput[],
  places: readonly number[],
  disturb: (answers: readonly StreamResult[]) => unknown,
  options: StreamOptions = OPTIONS,
) {
  const opened: StreamOpened[] = [];
  const answers: StreamResult[] = [];
  async function* source(): AsyncGenerator<StreamInput> {
    for (const [index, input] of inputs.entries()) {
      if (places.includes(index)) {
        const before = await until('an open stream', () => opened.length > 0 && opened.length);
        await disturb(answers);
        await until('a stream that goes on', () => opened.length > before);
      }
      yield input;
    }
  }
  const onOpen = (told: StreamOpened): unknown => opened.push(told);
  const stream = clientOf(proxy.origin).stream(source(), { ...options, onOpen });
  for await (const answer of stream) answers.push(answer);
  return { answers, opened };
}

describe('a stream of the client', () => {
  it('goes on after its connection broke, without a window lost or doubled', async () => {
    const inputs: StreamInput[] = blocksOf(SAMPLES);
    const expected = await whole(service, inputs, FIRST);
    expect(expected.length).toBeGreaterThan(60);
    const { answers, opened } = await disturbed(inputs, [1, 4, 5, 12, 20], () => proxy.cut());
    expect(answers).toEqual(expected);
    expect(opened.map(({ resumed }) => resumed)).toEqual([false, true, true, true, true, true]);
  });

  it('tells of each gap once', async () => {
    const place = (sample: number) => ({ seconds: 50 + sample / 256 });
    const inputs = [
      SAMPLES.slice(0, 1500),
      { gap: 30 },
      ...blocksOf(SAMPLES.slice(1530, 2100)),
      { at: place(2200), samples: SAMPLES.slice(2200, 2300) },
      { gap: 3 },
      { at: place(2303) },
      SAMPLES.slice(2303, 5000),
    ] as StreamInput[];
    const first = { ...FIRST, start: place(0), format: 'json' };
    const expected = await whole(service, inputs, first);
    expect(expected.filter((one) => 'gap' in one)).toHaveLength(3);
    const places = inputs.map((_, index) => index).slice(1);
    const options = { ...OPTIONS, start: place(0) };
    const { answers } = await disturbed(inputs, places, () => proxy.cut(), options);
    const isGap = (one: object): boolean => 'gap' in one;
    expect(answers.filter(isGap)).toEqual(expected.filter(isGap));
    expect(answers.filter((one) => !isGap(one))).toEqual(expected.filter((one) => !isGap(one)));
  });

  it('does so where what is broken says nothing', async () => {
    const options: StreamOptions = { ...OPTIONS, format: 'f32', timeoutMs: 2000 };
    const inputs = [SAMPLES.slice(0, 3000), SAMPLES.slice(3000)];
    const rounded = inputs.map((block) => Array.from(Float32Array.from(block)));
    const opened: StreamOpened[] = [];
    async function* source(): AsyncGenerator<StreamInput> {
      yield inputs[0] as number[];
      await until('an open stream', () => opened.length > 0);
      proxy.freeze();
      yield inputs[1] as number[];
    }
    const onOpen = (told: StreamOpened): unknown => opened.push(told);
    const answers = await all(clientOf(proxy.origin).stream(source(), { ...options, onOpen }));
    expect(answers).toEqual(await whole(service, rounded, FIRST));
    expect(opened.map(({ resumed }) => resumed)).toEqual([false, true]);
  });

  it.each([
    ['stops', (one: Service) => one.stop()],
    ['is killed', async (one: Service) => one.child.kill('SIGKILL')],
  ])('goes on at another replica where one %s, with the same bits', async (_what, end) => {
    const inputs: StreamInput[] = blocksOf(SAMPLES);
    const expected = await whole(service, inputs, FIRST);
    const places = [10, 20];
    const replicas = await Promise.all(places.map(() => startService('eeg', SHIPPED)));
    const [first, second] = replicas as [Service, Service];
    const targets: Address[] = [second, service];
    proxy.target = first;
    const { answers, opened } = await disturbed(inputs, places, async (come) => {
      await until('answers', () => come.length >= 5);
      proxy.target = targets.shift() as Address;
      return end(replicas.shift() as Service);
    });
    expect(answers).toEqual(expected);
    expect(opened.map(({ resumed }) => resumed)).toEqual([false, false, false]);
    // It begins before what is to come: the filter looks back, and the median.
    expect((opened[1] as StreamOpened).next_window).toBeGreaterThan(0);
    expect((opened[1] as StreamOpened).next_sample % 256).toBe(0);
  });

  it('waits for a service that is not there, and gives up in the end', async () => {
    const one = await startService('eeg', SHIPPED);
    proxy.target = one;
    const retried: string[] = [];
    async function* source(): AsyncGenerator<StreamInput> {
      yield SAMPLES.slice(0, 1000);
      await until('answers', () => got > 0);
      one.child.kill('SIGKILL');
      await until('retries', () => retried.length >= 3);
      yield SAMPLES.slice(1000);
    }
    let got = 0;
    const onRetry = ({ name }: Error): unknown => retried.push(name);
    const stream = clientOf(proxy.origin).stream(source(), { ...OPTIONS, retries: 3, onRetry });
    const lost = (async () => {
      for await (const _answer of stream) got++;
    })();
    await expect(lost).rejects.toMatchObject({ name: 'TypeError' });
    expect(got).toBeGreaterThan(0);
    expect(retried).toHaveLength(3);
  });
});
