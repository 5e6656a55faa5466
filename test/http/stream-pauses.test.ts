import path from 'node:path';
import { scrape } from '../helpers/metrics';
import { killAll, ROOT, type Service, startService } from '../helpers/service';
import { Events } from '../helpers/stream-events';
import { StreamClient } from '../helpers/streams';
import { until } from '../helpers/until';

const PRELOAD = path.join(__dirname, 'scripts', 'preload-high-water-mark.cjs');
/** Of these windows the model is not asked, and answers to them do not fit into the buffers of the kernel. */
const WINDOWS = 60_000;
const WINDOW = 256;
const SAMPLES = new Float32Array(WINDOWS + WINDOW - 1).fill(Number.NaN);
const OPENING = { sampling_rate_hz: 95, step: 1 };

afterAll(killAll);

describe.each([16_384, 65_536, 1_048_576])('with %d bytes as the default of Node', (mark) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService('eeg', {
      cwd: path.join(ROOT, 'models', 'eeg'),
      env: { HIGH_WATER_MARK: String(mark) },
      nodeArgs: ['--require', PRELOAD],
    });
  });

  /** Resolves when no more windows are answered, for the client does not read. */
  async function standsStill(): Promise<void> {
    let before = -1;
    await until('a stream that stands still', async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      const windows = (await scrape(service)).byLabel(
        'libtorch_serve_stream_windows_total',
        'outcome',
      );
      const now = windows.unusable ?? 0;
      const isStill = now > 0 && now === before;
      before = now;
      return isStill;
    });
    expect(before % WINDOWS).toBeGreaterThan(0);
  }

  it('a WebSocket goes on after its client has read nothing for a while', async () => {
    const client = await StreamClient.open(service, { ...OPENING, format: 'f32' });
    await client.first('stream');
    client.socket.pause();
    client.float32(SAMPLES);
    client.say({ end: true });
    await standsStill();
    client.socket.resume();
    expect((await client.closed).code).toBe(1000);
    expect(client.windows.map(({ window }) => window)).toEqual([...new Array(WINDOWS).keys()]);
  });

  it('so does a stream of events', async () => {
    const before = (await scrape(service)).byLabel(
      'libtorch_serve_stream_windows_total',
      'outcome',
    );
    expect((before.unusable ?? 0) % WINDOWS).toBe(0);
    const samples = [...SAMPLES].map(() => null);
    const events = new Events(service, { ...OPENING, samples, end: true }, { isPaused: true });
    await standsStill();
    events.resume();
    await events.ended;
    expect(events.closed).toEqual({ code: 1000, reason: '' });
    expect(events.windows.map(({ window }) => window)).toEqual([...new Array(WINDOWS).keys()]);
  });
});
