/**
 * Streams of signals at once: windows that are answered, how long after their last sample, memory and processor time.
 *
 *   node bench/streams.mjs [--streams=1000] [--seconds=10] [--warm=5] [--rate=256] [--step=64] [--silent=2000]
 *                          [--checkout=FOLDER] [--profile]
 *
 * Each stream sends `step` samples at a time, as an amplifier would, at a time of its own. Samples are float32. What
 * comes in the first `warm` seconds, in which V8 compiles, is not counted. The load comes from a process beside the
 * service, on the same cores; what other processes take of them is told. --checkout: the service of another one that is
 * built, to compare. --profile writes a profile of the service's event loop.
 * Needs `npm run build`.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { quantile } from './load.mjs';
import { describeMachine } from './machine.mjs';
import { ROOT } from './paths.mjs';
import { usage } from './servers.mjs';

const require = createRequire(import.meta.url);
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
    warm: { type: 'string', default: '5' },
    checkout: { type: 'string', default: ROOT },
    profile: { type: 'boolean', default: false },
  },
});
const names = ['streams', 'seconds', 'rate', 'step', 'silent', 'warm'];
const [streams, seconds, rate, step, silent, warm] = names.map((name) => Number(values[name]));

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
  const child = spawn(
    process.execPath,
    [...profile, path.join(values.checkout, 'dist/main.js'), 'eeg'],
    {
      cwd: path.join(values.checkout, 'models/eeg'),
      env: {
        BODY_MEMORY: '256mb',
        ...process.env,
        HOST: '127.0.0.1',
        PORT: '0',
        LOG_LEVEL: 'info',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
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

/** Of a message of `length` bytes from a client: its mask is all zeros, so that it costs the load nothing. */
function headOf(length, opcode) {
  const long = length > 125;
  const head = Buffer.alloc(long ? 8 : 6);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (long ? 126 : length);
  if (long) head.writeUInt16BE(length, 2);
  return head;
}

const frameOf = (data, opcode) => Buffer.concat([headOf(data.length, opcode), data]);
const [TEXT, BINARY] = [1, 2];
const OPENING = frameOf(
  Buffer.from(JSON.stringify({ sampling_rate_hz: rate, step, format: 'f32' })),
  TEXT,
);

/** The texts of whole frames, which have up to 65,535 bytes. @returns what is left */
function readFrames(bytes, onText) {
  let at = 0;
  while (bytes.length >= at + 4) {
    const isLong = bytes[at + 1] === 126;
    const begin = at + (isLong ? 4 : 2);
    const end = begin + (isLong ? bytes.readUInt16BE(at + 2) : bytes[at + 1]);
    if (bytes.length < end) break;
    onText(bytes.latin1Slice(begin, Math.min(end, begin + 30)));
    at = end;
  }
  return bytes.subarray(at);
}

/** Resolves with the socket when the stream is open and welcomed. No library: the load is to cost little. */
function open(port, onWindow) {
  return new Promise((resolve, reject) => {
    const headers = {
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      'sec-websocket-key': Buffer.alloc(16, 1).toString('base64'),
    };
    const request = http.get({ host: '127.0.0.1', port, path: '/stream', headers, agent: false });
    request.on('error', reject);
    request.on('response', ({ statusCode }) => reject(new Error(`refused: ${statusCode}`)));
    request.on('upgrade', (_response, socket, head) => {
      let rest = head;
      socket.setNoDelay(true);
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        rest = readFrames(rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk, (text) => {
          if (text.startsWith('{"window":')) onWindow(Number.parseInt(text.slice(10), 10));
          else if (text.startsWith('{"error":'))
            reject(new Error(`refused: ${text}: see BODY_MEMORY`));
          else resolve(socket);
        });
      });
      socket.write(OPENING);
    });
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

/** Processor seconds of the service, its event loop, this process and the machine, and when. */
function spentBy(pid) {
  const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const own = process.cpuUsage();
  return {
    ...{ service: usage(pid).cpu, loop: eventLoopOf(pid), at: performance.now() },
    load: (own.user + own.system) / 1e6,
    all: (user + nice + system + irq + softirq) / 100,
  };
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
  for (const socket of [...first, ...others]) socket.destroy();
}

async function main() {
  const { child, port } = await startService();
  const of = () => usage(child.pid);
  await settle();
  if (silent > 0) await measureSilent(port, of);
  await settle();

  const period = (1000 * step) / rate;
  const total = Math.floor(((warm + seconds) * 1000) / period);
  const firstCounted = Math.floor((warm * 1000) / period);
  const blocks = blocksOf(total);
  const sentAt = Array.from({ length: streams }, () => []);
  const latencies = [];
  const empty = of();
  const sockets = await openAll(port, streams, (index, window) => {
    const block = blocks[window] - 1;
    if (block >= firstCounted) latencies.push(performance.now() - sentAt[index][block]);
  });
  await settle();
  const opened = of();
  const bytes = frameOf(Buffer.from(signal().buffer), BINARY);
  const start = performance.now();
  let before = null;
  let late = 0;
  for (;;) {
    // Every stream has a time of its own within a period.
    const now = performance.now() - start;
    if (now > total * period + period) break;
    if (now >= warm * 1000) before ??= spentBy(child.pid);
    for (let i = 0; i < streams; i++) {
      const due = (i / streams) * period + sentAt[i].length * period;
      if (due > now || sentAt[i].length === total) continue;
      if (before) late = Math.max(late, now - due);
      sentAt[i].push(performance.now());
      sockets[i].write(bytes);
    }
    await delay(2);
  }
  const expected =
    streams * blocks.filter((block) => block <= total && block > firstCounted).length;
  for (let waited = 0; latencies.length < expected && waited < 100; waited++) await delay(50);
  const after = spentBy(child.pid);
  const [service, loop, load, all] = ['service', 'loop', 'load', 'all'].map(
    (name) => after[name] - before[name],
  );
  const wall = (after.at - before.at) / 1000;
  latencies.sort((a, b) => a - b);
  console.log(`${streams} streams, ${rate} Hz, step ${step}, ${seconds} s after ${warm}`);
  console.log(`  windows answered: ${latencies.length} of ${expected}`);
  const ms = (share) => quantile(latencies, share).toFixed(1);
  console.log(`  last sample to answer: p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms, max ${ms(1)} ms`);
  console.log(`  the load itself was late by up to ${late.toFixed(0)} ms`);
  const each = (seconds) => ((1e6 * seconds) / latencies.length).toFixed(0);
  console.log(`  processor time: ${each(service)} µs a window, ${each(loop)} on the event loop`);
  const core = (seconds) => (seconds / wall).toFixed(2);
  const others = core(Math.max(0, all - service - load));
  console.log(`  cores: service ${core(service)}, load ${core(load)}, others ${others}`);
  const { rss } = of();
  const kilobytes = (a, b) => (((a - b) * 1024) / streams).toFixed(1);
  console.log(
    `  resident: ${rss.toFixed(0)} MB; of a stream ${kilobytes(opened.rss, empty.rss)} kB when open, ` +
      `${kilobytes(rss, empty.rss)} kB in the end`,
  );
  const { cpu: name, cores } = describeMachine();
  console.log(`${name}, ${cores} cores`);
  for (const socket of sockets) socket.destroy();
  child.kill('SIGTERM');
}

await main();
