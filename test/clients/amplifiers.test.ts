/** examples/amplifiers/python: a recording played over Lab Streaming Layer, and BrainFlow's synthetic board. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { resample } from '../../src/recordings/resample';
import { needs } from '../helpers/needs';
import { freePort } from '../helpers/ports';
import { INSTALL_MS, installPython } from '../helpers/python';
import { normal, seededRandom } from '../helpers/random';
import { killAll, NodeProcess, ROOT, type Service, startService } from '../helpers/service';
import { predictions, type StreamMessage, said } from '../helpers/streams';
import { setTestLimit, until } from '../helpers/until';

const FOLDER = path.join(ROOT, 'examples', 'amplifiers', 'python');
const WINDOW = 256;
const RATE = 256;
const STEP = 128;
const SECONDS = 8;
const KEY = 'a-key-that-is-long-enough-0123456789';

setTestLimit(INSTALL_MS);

let temporary: string;
let port: number;
let service: Service;

const start = () =>
  startService('eeg', {
    cwd: path.join(ROOT, 'models', 'eeg'),
    env: { PORT: String(port), API_KEY: KEY },
  });

beforeAll(async () => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'amplifiers-'));
  port = await freePort();
  service = await start();
});

afterAll(async () => {
  await killAll();
  rmSync(temporary, { recursive: true, force: true });
});

/** A script of the example. */
function run(packages: string, script: string, args: readonly string[]): NodeProcess {
  // Streams of this machine alone, which needs no network that forwards to many.
  const config = path.join(temporary, 'lsl_api.cfg');
  writeFileSync(config, '[multicast]\nResolveScope = machine\n[lab]\nKnownPeers = {127.0.0.1}\n');
  return new NodeProcess({
    program: 'python3',
    script: path.join(FOLDER, script),
    args,
    cwd: temporary,
    env: {
      PYTHONPATH: packages,
      PYTHONDONTWRITEBYTECODE: '1',
      LSLAPICFG: config,
      API_KEY: KEY,
      HOME: temporary,
    },
  });
}

const url = () => `ws://127.0.0.1:${port}/stream`;

const windowsIn = (reader: NodeProcess) =>
  (reader.logs as readonly StreamMessage[]).filter(({ window }) => window !== undefined);

/** But for the half of a sample of the model by which a window begins before or behind. */
function expectEvenTimes(windows: readonly StreamMessage[]): void {
  const times = windows.map(({ time }) => time as number);
  for (const [index, time] of times.entries()) {
    expect(Math.abs(time - (times[0] as number) - (index * STEP) / RATE)).toBeLessThan(0.02);
  }
}

const { it } = needs('python');

describe('Lab Streaming Layer', () => {
  let packages: string;
  beforeAll(async () => {
    packages = await installPython('lsl', path.join(FOLDER, 'lsl-requirements.txt'));
  });

  /** Plays a recording of two channels to whoever reads it. @returns samples of T3, as float32 */
  function play(name: string): Float64Array {
    const random = seededRandom(11);
    const samples = Float32Array.from(
      { length: RATE * SECONDS },
      (_, i) => 30 * Math.sin(i / 7) + 12 * normal(random),
    );
    const rows = Array.from(samples, (value) => `${Math.round(random() * 9)},${value}\n`);
    const file = path.join(temporary, `${name}.csv`);
    writeFileSync(file, `Fz,T3\n${rows.join('')}`);
    run(packages, 'outlet.py', [file, '--rate', String(RATE), '--name', name]);
    return Float64Array.from(samples);
  }

  const read = (name: string) =>
    run(packages, 'lsl.py', [url(), '--name', name, '--step', String(STEP), '--timeout', '60']);

  it('has its windows answered as POST /predict does', async () => {
    const samples = Array.from(resample(play('whole'), RATE, 95));
    const reader = read('whole');
    const { code } = await reader.exit;
    expect([code, reader.stderr]).toEqual([0, expect.stringContaining('whole: T3 at 256.0 Hz')]);
    expect(reader.logs.at(-1)).toMatchObject({ end: { next_sample: RATE * SECONDS, skipped: 0 } });
    const windows = windowsIn(reader);
    const starts = windows.map((_, index) => Math.round((index * STEP * 95) / RATE));
    expect(starts.length).toBe(11);
    const expected = starts.map((first) => samples.slice(first, first + WINDOW));
    const headers = { authorization: `Bearer ${KEY}` };
    expect(windows.map(said)).toEqual(await predictions(service, expected, { headers }));
    expectEvenTimes(windows);
  });

  it('goes on where the service was killed, with no window lost or doubled', async () => {
    play('broken');
    const reader = read('broken');
    await until('three windows', () => windowsIn(reader).length >= 3);
    service.kill('SIGKILL');
    await service.exit;
    service = await start();
    const { code } = await reader.exit;
    expect([code, reader.stderr]).toEqual([0, expect.stringContaining('no close frame')]);
    const windows = windowsIn(reader);
    expect(windows.map(({ window }) => window)).toEqual(Array.from({ length: 11 }, (_, i) => i));
    expectEvenTimes(windows);
  });
});

describe('BrainFlow', () => {
  it('has the windows of a synthetic board answered', async () => {
    const packages = await installPython(
      'brainflow',
      path.join(FOLDER, 'brainflow-requirements.txt'),
    );
    const reader = run(packages, 'board.py', [url(), '--step', '125', '--seconds', '5']);
    const { code } = await reader.exit;
    expect([code, reader.stderr]).toEqual([0, expect.stringContaining('Fz at 250 Hz')]);
    const windows = windowsIn(reader);
    expect(windows.length).toBeGreaterThanOrEqual(4);
    for (const { diagnosis, quality } of windows) {
      expect(diagnosis).not.toBeNull();
      expect(quality).toMatchObject({ peak_to_peak: expect.any(Number) });
    }
  });
});
