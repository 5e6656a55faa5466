/**
 * Streams of signals at once: windows that are answered, how long after their last sample, memory and processor time.
 *
 *   node bench/streams.mjs [--streams=1000] [--seconds=10] [--rate=256] [--step=64] [--silent=2000] [--profile]
 *
 * Each stream sends `step` samples at a time, as an amplifier would, at a time of its own. Samples are float32. The load
 * comes from a process beside the service, on the same cores. --profile writes a profile of the service's event loop.
 * Needs `npm run build`.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { quantile } from './load.mjs';
import { describeMachine } from './machine.mjs';
import { ROOT } from './paths.mjs';
import { usage } from './servers.mjs';

const require = createRequire(import.meta.url);
const { WebSocket } = require('ws');
const { ResampleFilter } = require(path.join(ROOT, 'dist/recordings/resample-filter.js'));

const MODEL_RATE = 95;
const WINDOW = 256;

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '10' },
    rate: { type: 'string', default: '256' },
    step: { type: 'string', default: '64' },
    silent: { type: 'string', default: '2000' },
    profile: { type: 'boolean', default: false },
  },
});
const [streams, seconds, rate, step, silent] = ['streams', 'seconds', 'rate', 'step', 'silent'].map(
  (name) => Number(values[name]),
);

/** Blocks of `step` samples after which each window is complete. */
function blocksOf(count) {
  const filter = rate === MODEL_RATE ? null : new ResampleFilter(rate, MODEL_RATE);
  return Array.from({ length: count }, (_, window) => {
    const start = filter ? Math.round((window * step * MODEL_RATE) / rate) : window * step;
    const last = start + WINDOW - 1;
    return Math.ceil(((filter ? filter.lastOf(last) : last) + 1) / step);
  });
}

async function startService() {
  const profile = values.profile
    ? ['--cpu-prof', `--cpu-prof-dir=${path.join(ROOT, 'build')}`]
    : [];
  const child = spawn(process.execPath, [...profile, path.join(ROOT, 'dist/main.js'), 'eeg'], {
    cwd: path.join(ROOT, 'models/eeg'),
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  const port = await new Promise((resolve, reject) => {
    child.on('exit', () => reject(new Error(`the service has ended: ${text}`)));
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const line = text.split('\n').find((one) => one.includes('"listening"'));
      if (line) resolve(JSON.parse(line).port);
    });
  });
  return { child, port };
}

/** Resolves when it is open and welcomed. */
function open(port, onWindow) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/stream`, { perMessageDeflate: false });
    socket.on('open', () =>
      socket.send(JSON.stringify({ sampling_rate_hz: rate, step, format: 'f32' })),
    );
    socket.on('message', (data) => {
      const text = data.toString('latin1');
      if (text.startsWith('{"window":')) onWindow(Number.parseInt(text.slice(10), 10));
      else resolve(socket);
    });
    socket.on('error', reject);
  });
}

async function openAll(port, count, onWindow) {
  const sockets = [];
  while (sockets.length < count) {
    const some = Math.min(50, count - sockets.length);
    const base = sockets.length;
    const opening = Array.from({ length: some }, (_, i) =>
      open(port, (window) => onWindow(base + i, window)),
    );
    sockets.push(...(await Promise.all(opening)));
  }
  return sockets;
}

function signal() {
  return Float32Array.from(
    { length: step },
    (_, i) => 30 * Math.sin(i / 7) + 20 * (Math.random() - 0.5),
  );
}

/** Processor seconds of the service's event loop alone. */
function eventLoopOf(pid) {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function settle() {
  await delay(1500);
}

/** Of the first ones the service's heap grows for what is no stream's: the memory is that of the others. */
async function measureSilent(port, of) {
  const first = await openAll(port, silent, () => {});
  await settle();
  const before = of();
  const others = await openAll(port, silent, () => {});
  await settle();
  const idle = of();
  await delay(5000);
  const cpu = (of().cpu - idle.cpu) / 5;
  const kilobytes = ((idle.rss - before.rss) * 1024) / silent;
  console.log(`${silent} silent streams beside as many: ${kilobytes.toFixed(1)} kB each`);
  console.log(`  processor time of all: ${cpu.toFixed(4)} s a second`);
  for (const socket of [...first, ...others]) socket.terminate();
}

async function main() {
  const { child, port } = await startService();
  const of = () => usage(child.pid);
  await settle();
  if (silent > 0) await measureSilent(port, of);
  await settle();

  const blocks = blocksOf(Math.ceil((seconds * rate) / step));
  const sentAt = Array.from({ length: streams }, () => []);
  const latencies = [];
  const sockets = await openAll(port, streams, (index, window) => {
    const at = sentAt[index][blocks[window] - 1];
    latencies.push(performance.now() - at);
  });
  const period = (1000 * step) / rate;
  const total = Math.floor((seconds * 1000) / period);
  const bytes = Buffer.from(signal().buffer);
  const start = performance.now();
  const cpuBefore = of().cpu;
  const loopBefore = eventLoopOf(child.pid);
  let late = 0;
  for (;;) {
    // Every stream has a time of its own within a period.
    const now = performance.now() - start;
    if (now > total * period + period) break;
    for (let i = 0; i < streams; i++) {
      const due = (i / streams) * period + sentAt[i].length * period;
      if (due > now || sentAt[i].length === total) continue;
      late = Math.max(late, now - due);
      sentAt[i].push(performance.now());
      sockets[i].send(bytes);
    }
    await delay(2);
  }
  const expected = streams * blocks.filter((block) => block <= total).length;
  for (let waited = 0; latencies.length < expected && waited < 100; waited++) await delay(50);
  const cpu = of().cpu - cpuBefore;
  const loop = eventLoopOf(child.pid) - loopBefore;
  latencies.sort((a, b) => a - b);
  const wall = total * period;
  console.log(`${streams} streams, ${rate} Hz, step ${step}, ${wall / 1000} s`);
  console.log(`  windows answered: ${latencies.length} of ${expected}`);
  const ms = (share) => quantile(latencies, share).toFixed(1);
  console.log(`  last sample to answer: p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms, max ${ms(1)} ms`);
  console.log(`  the load itself was late by up to ${late.toFixed(0)} ms`);
  console.log(
    `  processor time: ${((1e6 * cpu) / latencies.length).toFixed(0)} µs a window, ` +
      `${((1e6 * loop) / latencies.length).toFixed(0)} of them on the event loop; ` +
      `${((1000 * cpu) / wall).toFixed(2)} cores`,
  );
  const { rss } = of();
  console.log(`  resident: ${rss.toFixed(0)} MB`);
  const { cpu: name, cores } = describeMachine();
  console.log(`${name}, ${cores} cores`);
  for (const socket of sockets) socket.terminate();
  child.kill('SIGTERM');
}

await main();
