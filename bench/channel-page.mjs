/**
 * Frame times of the EEG page for models of several channels, in Chromium: scrolling a generated recording of 64
 * channels at 512 Hz over 10 minutes with different visible times, with a filter, and the live stream.
 *
 *   node bench/channel-page.mjs [--minutes 10]
 *
 * "Draw" is the time of the callback that draws a frame, "CPU" the mean CPU time of all scripts per frame, and "interval"
 * the time from frame to frame, which includes waiting for the next refresh of the screen (16.7 ms). Needs `npm run build` and Chromium (CHROMIUM, or /usr/bin/chromium).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { quantile } from './load.mjs';
import { describeMachine } from './machine.mjs';
import { ROOT } from './paths.mjs';
import { freePort, startProcess } from './servers.mjs';

const [CHANNELS, RATE, FRAMES] = [64, 512, 240];
/** Scrolled pixels per frame. */
const STEP_PIXELS = 7;
/** Duration of the live stream before the measurement, in ms. */
const LIVE_MS = 9000;
const MODEL = path.join(ROOT, 'test/fixtures/multichannel/eeg_model.pt');
const MODEL_CHANNELS = ['Fp1', 'Fp2', 'Cz', 'O1', 'O2'];

const { values: options } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });

const folder = mkdtempSync(path.join(os.tmpdir(), 'channel-page-'));
const files = writeRecording(Number(options.minutes) * 60);
const port = await freePort();
const server = startProcess([process.execPath, path.join(ROOT, 'dist/main.js'), 'eeg'], {
  env: { ...process.env, PORT: String(port), EEG_MODEL_PATH: MODEL },
  stdio: 'ignore',
});
await untilReady();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
try {
  console.log(describeMachine());
  await measurePage(await browser.newPage({ viewport: { width: 1280, height: 1000 } }));
} finally {
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true });
}

async function untilReady() {
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) await delay(50);
}

async function measurePage(page) {
  await page.addInitScript(recordCallbacks);
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.locator('.badge .dot').waitFor();
  await page.getByLabel('Open a recording').setInputFiles(files);
  const canvas = page.getByRole('slider', { name: 'Cursor in the signals' });
  await canvas.waitFor({ timeout: 120_000 });
  // The first seconds prepare long ranges.
  await page.waitForTimeout(3000);
  const zoom = async (key, times) => {
    for (let i = 0; i < times; i++) await canvas.press(key);
  };
  const session = await page.context().newCDPSession(page);
  // CPU time of the thread instead of elapsed time.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const scriptSeconds = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'ScriptDuration').value;
  };
  const scroll = async (pixels = STEP_PIXELS) => {
    const before = await scriptSeconds();
    const times = await page.evaluate(scrollFrames, [FRAMES, pixels]);
    return { ...times, cpu: ((await scriptSeconds()) - before) * (1000 / FRAMES) };
  };
  report('10 s', await scroll());
  await zoom('ArrowDown', 4);
  report('66 s', await scroll());
  await page.getByRole('button', { name: 'Show all' }).click();
  await zoom('ArrowUp', 1);
  report('63 % of the recording', await scroll());
  await zoom('ArrowUp', 12);
  await page.getByLabel('High-pass').selectOption('1');
  await page.getByText('The filter changes the drawing only').waitFor({ timeout: 120_000 });
  report('filtered, zoomed in', await scroll());
  await page.getByRole('slider', { name: 'Speed' }).press('Home');
  await page.getByRole('button', { name: 'Play', exact: true }).click();
  await page.waitForTimeout(LIVE_MS);
  report('live', await scroll(0));
}

/** Runs in the page: records the durations of the callbacks of frames. */
function recordCallbacks() {
  window.durations = [];
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (callback) =>
    request((time) => {
      const begin = performance.now();
      callback(time);
      window.durations.push(performance.now() - begin);
    });
}

/** Runs in the page: scrolls in each frame. The callback of this loop is short, that of the drawing is long. */
async function scrollFrames([frames, pixels]) {
  const canvas = document.querySelector('canvas.channels');
  window.durations.length = 0;
  const intervals = [];
  let last = performance.now();
  for (let i = 0; i < frames; i++) {
    if (pixels > 0) {
      const init = { deltaY: pixels, shiftKey: true, bubbles: true, cancelable: true };
      canvas.dispatchEvent(new WheelEvent('wheel', init));
    }
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const now = performance.now();
    intervals.push(now - last);
    last = now;
  }
  return { draws: window.durations.filter((duration) => duration > 0.3), intervals };
}

function report(name, { draws, intervals, cpu }) {
  const words = (values) => {
    const sorted = values.sort((a, b) => a - b);
    const [median, p95] = [0.5, 0.95].map((share) => quantile(sorted, share).toFixed(1));
    return `median ${median}, p95 ${p95} ms`;
  };
  console.log(
    `${name}: draw ${words(draws)}; CPU ${cpu.toFixed(1)} ms; interval ${words(intervals)}`,
  );
}

/** BrainVision, int16: a rhythm and slow and fast noise. @returns paths of the files */
function writeRecording(seconds) {
  const length = RATE * seconds;
  const samples = new Int16Array(length * CHANNELS);
  let state = 1;
  const noise = () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  for (let channel = 0; channel < CHANNELS; channel++) {
    let slow = 0;
    for (let i = 0; i < length; i++) {
      slow = 0.98 * slow + 20 * noise();
      const rhythm = 20 * Math.sin((2 * Math.PI * 10 * i) / RATE + channel);
      samples[i * CHANNELS + channel] = 10 * (2 * slow + rhythm + 10 * noise());
    }
  }
  const names = Array.from({ length: CHANNELS }, (_, i) => MODEL_CHANNELS[i] ?? `E${i}`);
  const header = [
    'Brain Vision Data Exchange Header File Version 1.0',
    '[Common Infos]',
    'DataFile=recording.eeg',
    'DataFormat=BINARY',
    'DataOrientation=MULTIPLEXED',
    `NumberOfChannels=${CHANNELS}`,
    `SamplingInterval=${1e6 / RATE}`,
    '[Binary Infos]',
    'BinaryFormat=INT_16',
    '[Channel Infos]',
    ...names.map((name, i) => `Ch${i + 1}=${name},,0.1,µV`),
  ];
  const paths = ['recording.vhdr', 'recording.eeg'].map((name) => path.join(folder, name));
  writeFileSync(paths[0], header.join('\n'));
  writeFileSync(paths[1], new Uint8Array(samples.buffer));
  return paths;
}
