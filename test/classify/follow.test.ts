/** `classify eeg --follow` of files that grow, are cut off and replaced while they are read. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { resample } from '../../src/recordings/resample';
import { normal, seededRandom } from '../helpers/random';
import { killAll, MAIN, ROOT, type Service, startService } from '../helpers/service';
import { predictions, type StreamMessage, said } from '../helpers/streams';
import { until } from '../helpers/until';

const SHIPPED = path.join(ROOT, 'models', 'eeg', 'eeg_model.pt');
const WINDOW = 256;

const folder = mkdtempSync(path.join(os.tmpdir(), 'follow-'));
let service: Service;
let files = 0;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  service = await startService('eeg', { env: { EEG_MODEL_PATH: SHIPPED } });
});
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});
afterAll(async () => {
  await killAll();
  rmSync(folder, { recursive: true, force: true });
});

interface FollowHow {
  readonly stdin?: number | 'pipe';
  readonly env?: Readonly<Record<string, string>>;
}

/** The command in a process of its own. */
class Follow {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  stdout = '';
  stderr = '';

  constructor(file: string, args: readonly string[], { stdin = 'pipe', env = {} }: FollowHow = {}) {
    this.child = spawn(process.execPath, [MAIN, 'classify', 'eeg', '--follow', file, ...args], {
      env: { PATH: process.env.PATH, EEG_MODEL_PATH: SHIPPED, ...env },
      stdio: [stdin, 'pipe', 'pipe'],
    });
    running.add(this.child);
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code) => {
        running.delete(this.child);
        resolve(code);
      });
    });
  }

  get said(): readonly StreamMessage[] {
    return saidIn(this.stdout);
  }

  get windows(): readonly StreamMessage[] {
    return this.said.filter(({ window }) => window !== undefined);
  }

  async hasWindows(count: number): Promise<void> {
    await until(`${count} windows: ${this.stdout.slice(-500)}${this.stderr}`, () => {
      if (this.child.exitCode !== null) throw new Error(this.stderr);
      return this.windows.length >= count;
    });
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    return this.ended;
  }
}

function saidIn(text: string): readonly StreamMessage[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as StreamMessage);
}

const newFile = () => path.join(folder, `${files++}.csv`);

function signal(length: number, seed = 3): number[] {
  const random = seededRandom(seed);
  return Array.from({ length }, (_, i) => 30 * Math.sin(i / 7) + 12 * normal(random));
}

const linesOf = (samples: readonly number[]) => samples.map((value) => `${value}\n`).join('');

const predict = (windows: readonly (readonly number[])[]) => predictions(service, windows);

function windowsOf(samples: readonly number[], starts: readonly number[]) {
  return starts.map((start) => samples.slice(start, start + WINDOW));
}

describe('a file that grows', () => {
  it('has its windows answered as soon as they are complete, as POST /predict does', async () => {
    const samples = signal(700);
    const text = linesOf(samples);
    const file = newFile();
    writeFileSync(file, '');
    const follow = new Follow(file, ['--sampling-rate', '95', '--step', '64']);
    const random = seededRandom(5);
    const ends = [...text.matchAll(/\n/g)].map(({ index }) => index + 1);
    let at = 0;
    /** Grows bit by bit, with lines in parts, up to that number of samples. */
    const growTo = (count: number) => {
      const end = ends[count - 1] as number;
      while (at < end) {
        const next = Math.min(end, at + 1 + Math.floor(random() * 900));
        appendFileSync(file, text.slice(at, next));
        at = next;
      }
    };
    growTo(256);
    await follow.hasWindows(1);
    growTo(256 + 64 + 63);
    await follow.hasWindows(2);
    // The last digit, and not the end of its line: the number may go on.
    appendFileSync(file, text.slice(at, (ends[383] as number) - 1));
    at = (ends[383] as number) - 1;
    expect(follow.windows).toHaveLength(2);
    growTo(700);
    await follow.hasWindows(7);
    expect(await follow.stop()).toBe(143);
    const starts = [0, 64, 128, 192, 256, 320, 384];
    expect(follow.windows.map(said)).toEqual(await predict(windowsOf(samples, starts)));
    expect(follow.said.at(-1)).toEqual({
      end: { windows: 7, skipped: 0, next_window: 7, next_sample: 700 },
    });
    expect(follow.stderr).toContain('7 windows classified, 0 lines or windows without a result');
  });

  it('has a header, a channel, and times that say the rate and the gaps', async () => {
    const samples = signal(1900);
    const row = (value: number, i: number) =>
      `${((i < 900 ? i : i + 90) / 250).toFixed(3)};${value};x\r\n`;
    const rows = samples.map(row);
    const file = newFile();
    writeFileSync(
      file,
      `\ufeff\nTime (s);EEG T3;Marker\r\ns;uV;\r\n${rows.slice(0, 400).join('')}`,
    );
    const follow = new Follow(file, ['--resample', '--channel', 'T3']);
    await until('the layout', () => follow.stderr.includes('“EEG T3”, 250 Hz, with its times'));
    appendFileSync(file, rows.slice(400).join(''));
    await follow.hasWindows(2);
    expect(await follow.stop('SIGINT')).toBe(130);
    const [first, second] = [samples.slice(0, 900), samples.slice(900)].map((part) =>
      Array.from(resample(Float64Array.from(part), 250, 95)).slice(0, WINDOW),
    );
    expect(follow.windows.map(said)).toEqual(
      await predict([first as number[], second as number[]]),
    );
    expect(follow.windows.map(({ first_sample, time }) => [first_sample, time])).toEqual([
      [0, 0],
      [990, 3.96],
    ]);
    expect(follow.said).toContainEqual({ gap: { first_sample: 900, samples: 90, time: 3.6 } });
  });

  it('says where there is no number, and answers no window with it', async () => {
    const samples = signal(4 * WINDOW);
    const lines = samples.map(String);
    lines[300] = 'secret';
    lines[301] = '';
    lines[600] = '12a';
    const file = newFile();
    const follow = new Follow(file, ['--sampling-rate', '95']);
    await until('a wait for it', () => follow.stderr.includes('does not exist'));
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
    await follow.hasWindows(3);
    await follow.stop();
    expect(follow.said.filter(({ error }) => error !== undefined)).toEqual([
      { error: { file, line: 301, detail: '“Channel 1” is not a number' } },
      { error: { file, line: 601, detail: '“Channel 1” is not a number' } },
    ]);
    // A line in which there is nothing is no sample.
    expect(follow.windows.map(({ diagnosis, quality }) => [diagnosis !== null, quality])).toEqual([
      [true, expect.objectContaining({ problems: [] })],
      [false, expect.objectContaining({ problems: ['not_finite'] })],
      [false, expect.objectContaining({ problems: ['not_finite'] })],
    ]);
    expect(follow.stdout + follow.stderr).not.toContain('secret');
    expect(follow.stderr).toContain('1 windows classified, 4 lines or windows without a result');
  });

  it('is followed on where it is cut off, renamed, or not there for a while', async () => {
    const [first, second, third] = [signal(300, 1), signal(400, 2), signal(290, 4)];
    const file = newFile();
    writeFileSync(file, `T3,other\n${first.map((value) => `${value},1\n`).join('')}3.`);
    const follow = new Follow(file, ['--sampling-rate', '95']);
    await follow.hasWindows(1);
    renameSync(file, `${file}.1`);
    await until('that it is gone', () => follow.stderr.includes('does not exist'));
    // What still comes to the file that had the name belongs to it.
    appendFileSync(`${file}.1`, '5,1\n');
    writeFileSync(file, second.map((value) => `${value},1\n`).join(''));
    await follow.hasWindows(2);
    truncateSync(file, 0);
    await until('that it was cut', () => follow.stdout.includes('was truncated'));
    appendFileSync(file, `other,T3\n${third.map((value) => `1,${value}\n`).join('')}`);
    await follow.hasWindows(3);
    expect(await follow.stop()).toBe(143);
    const begin = [first, second, third].map((samples) => samples.slice(0, WINDOW));
    expect(follow.windows.map(said)).toEqual(await predict(begin));
    expect(follow.said.map((one) => Object.keys(one)[0])).toEqual([
      'window',
      'end',
      'error',
      'window',
      'end',
      'error',
      'window',
      'end',
    ]);
    expect(follow.windows.map(({ window, first_sample }) => [window, first_sample])).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
    ]);
    const ends = follow.said.filter(({ end }) => end !== undefined);
    expect(ends[0]).toMatchObject({ end: { next_sample: 301 } });
  });
});

describe('--follow', () => {
  it('writes a file, which it does not replace unasked', async () => {
    const [file, output] = [newFile(), newFile()];
    writeFileSync(file, linesOf(signal(WINDOW)));
    const args = ['--sampling-rate', '95', '-o', output];
    const follow = new Follow(file, args);
    await until('a window', () => has(output, '"window":0'));
    expect(await follow.stop()).toBe(143);
    expect(saidIn(readFileSync(output, 'utf8')).map((one) => Object.keys(one)[0])).toEqual([
      'window',
      'end',
    ]);
    const again = new Follow(file, args);
    expect(await again.ended).toBe(2);
    expect(again.stderr).toContain('file exists. Use another file, or --overwrite');
    const onItself = new Follow(file, ['--sampling-rate', '95', '-o', file, '--overwrite']);
    expect(await onItself.ended).toBe(2);
    expect(onItself.stderr).toContain('is the followed file');
    expect(readFileSync(file, 'utf8')).toBe(linesOf(signal(WINDOW)));
  });

  it('reads a pipe to its end, the last line without one', async () => {
    const file = newFile();
    const samples = signal(WINDOW);
    writeFileSync(file, linesOf(samples).trimEnd());
    const stdin = openSync(file, 'r');
    const follow = new Follow('-', ['--sampling-rate', '95'], { stdin });
    expect(await follow.ended).toBe(0);
    closeSync(stdin);
    expect(follow.windows.map(said)).toEqual(await predict([samples]));
    writeFileSync(file, `${linesOf(samples)}x\n`);
    const bad = openSync(file, 'r');
    const other = new Follow('-', ['--sampling-rate', '95'], { stdin: bad });
    expect(await other.ended).toBe(4);
    closeSync(bad);
  });

  it('ends when nobody reads its answers any more', async () => {
    const file = newFile();
    writeFileSync(file, linesOf(signal(WINDOW)));
    const follow = new Follow(file, ['--sampling-rate', '95', '--step', '1']);
    await follow.hasWindows(1);
    follow.child.stdout?.destroy();
    const timer = setInterval(() => appendFileSync(file, linesOf(signal(10))), 20);
    expect(await follow.ended.finally(() => clearInterval(timer))).toBe(1);
    expect(follow.stderr).toContain('standard output cannot be written: write EPIPE');
  });

  it.each([
    [['--sampling-rate', '256'], 1, 'recorded at 256 Hz, the model expects 95 Hz'],
    [['--sampling-rate', '900000', '--resample'], 1, 'sampling_rate_hz: expected a rate in Hz'],
    [[], 1, 'unknown sampling rate. Use --sampling-rate'],
    [['--sampling-rate', '256', '--resample', '--step', '2'], 1, 'step: expected at least 3'],
    [['--channel', 'T4', '--sampling-rate', '95'], 1, 'channel “T4” is missing'],
    [
      ['--resume'],
      2,
      '--resume: cannot be combined with --follow: --follow always reads its input',
    ],
    [['--keep', 'all'], 2, '--keep: cannot be combined with --follow'],
    [['--input-format', 'csv'], 2, '--input-format: cannot be combined with --follow'],
  ])('refuses %j', async (args, code, message) => {
    const file = newFile();
    writeFileSync(file, linesOf(signal(WINDOW)));
    const follow = new Follow(file, args);
    expect([await follow.ended, follow.stderr]).toEqual([code, expect.stringContaining(message)]);
  });

  it.each([
    ['{"signal": [1, 2]}\n'.repeat(300), 'is JSON'],
    ['a,b\n'.repeat(300), 'has no column of numbers'],
    ['\0\x01'.repeat(300), 'is not UTF-8 text'],
  ])('refuses what is no table of samples', async (content, message) => {
    const file = newFile();
    writeFileSync(file, content);
    const follow = new Follow(file, ['--sampling-rate', '95']);
    expect([await follow.ended, follow.stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});

function has(file: string, text: string): boolean {
  try {
    return readFileSync(file, 'utf8').includes(text);
  } catch {
    return false;
  }
}

describe.each([16_384, 65_536, 1_048_576])('where %d bytes are the default of Node', (mark) => {
  it('answers that are complete at once are written to a file, to the last one', async () => {
    const preload = path.join(__dirname, '..', 'http', 'scripts', 'preload-high-water-mark.cjs');
    const [file, output] = [newFile(), newFile()];
    // Windows of which the model is not asked, hundreds in a block: half a megabyte.
    writeFileSync(file, linesOf(new Array(3000).fill(7)));
    const args = ['--sampling-rate', '95', '--step', '1', '-o', output];
    const follow = new Follow(file, args, {
      env: { NODE_OPTIONS: `--require=${preload}`, HIGH_WATER_MARK: String(mark) },
    });
    const count = 3000 - WINDOW + 1;
    await until(
      `${count} windows`,
      () => existsSync(output) && saidIn(readFileSync(output, 'utf8')).length >= count,
    );
    await follow.stop();
    const windows = saidIn(readFileSync(output, 'utf8')).filter(
      ({ window }) => window !== undefined,
    );
    expect(windows.map(({ window }) => window)).toEqual([...new Array(count).keys()]);
  });
});
