/** examples/amplifiers/node: a serial port, here a pseudo terminal of `script`, to a stream. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { needs } from '../helpers/needs';
import { normal, seededRandom } from '../helpers/random';
import { killAll, NodeProcess, ROOT, type Service, startService } from '../helpers/service';
import { predictions, said } from '../helpers/streams';
import { until } from '../helpers/until';

const KEY = 'a-key-that-is-long-enough-0123456789';
const WINDOW = 256;

let temporary: string;
let service: Service;
let terminal: ReturnType<typeof spawn>;
/** Of the terminal, as a device. */
let port: string;

needs('script').describe('examples/amplifiers/node/serial.mjs', () => {
  beforeAll(async () => {
    temporary = mkdtempSync(path.join(os.tmpdir(), 'serial-'));
    const name = path.join(temporary, 'tty');
    // What is written to its standard input comes out of the terminal.
    terminal = spawn('script', ['-q', '-c', `tty > ${name}; sleep 1000`, '/dev/null']);
    [port, service] = await Promise.all([
      until('a terminal', () => /^\/dev\/\S+(?=\n)/.exec(read(name))?.[0]),
      startService('eeg', { cwd: path.join(ROOT, 'models', 'eeg'), env: { API_KEY: KEY } }),
    ]);
  });

  afterAll(async () => {
    terminal?.kill('SIGKILL');
    await killAll();
    rmSync(temporary, { recursive: true, force: true });
  });

  it('has the windows of its lines answered, until the port is gone', async () => {
    const random = seededRandom(9);
    const samples = Array.from(
      { length: 2 * WINDOW },
      (_, i) => 30 * Math.sin(i / 7) + 9 * normal(random),
    );
    const reader = new NodeProcess({
      script: path.join(ROOT, 'examples', 'amplifiers', 'node', 'serial.mjs'),
      args: [service.origin, port, '--rate', '95', '--column', '2', '--step', String(WINDOW)],
      env: { API_KEY: KEY },
    });
    await until('the port to be read', () => reader.stderr.includes('column 2 at 95 Hz'));
    const lines = samples.map((value, i) => `${i % 10},${value}\r\n`);
    const text = lines.join('');
    // In the middle of a number.
    const cut = lines.slice(0, 300).join('').length + 6;
    terminal.stdin?.write(text.slice(0, cut));
    await until('a window', () => reader.logs.length === 1);
    terminal.stdin?.write(text.slice(cut));
    await until('the other one', () => reader.logs.length === 2);
    terminal.kill('SIGTERM');
    expect([(await reader.exit).code, reader.logs.length]).toEqual([0, 2]);
    const windows = [samples.slice(0, WINDOW), samples.slice(WINDOW)];
    const headers = { authorization: `Bearer ${KEY}` };
    expect(reader.logs.map(said)).toEqual(await predictions(service, windows, { headers }));
  });
});

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
