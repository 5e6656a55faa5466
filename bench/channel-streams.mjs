/**
 * Streams of 64 channels at 512 Hz with a window every 64 samples: the most that two cores sustain with a p99 under
 * 100 ms, beside a Python loop with MNE, SciPy and PyTorch, which has no network.
 *
 *   node bench/channel-streams.mjs [--streams 4,8,16,…] [--seconds 8] [--limit 100]
 *
 * Each stream sends 64 frames at a time as float32, at a time of its own. The load comes from this process, on the same
 * cores. Both sides run in turn for each number of streams, until their p99 is above the limit. Needs `npm run build`.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { quantile } from './load.mjs';
import { describeMachine } from './machine.mjs';
import { BENCH, BUILD, ROOT } from './paths.mjs';
import { freePort, startProcess } from './servers.mjs';
import { installPackages, once, run, setUp } from './setup.mjs';

const CHANNELS = 64;
const [RATE, LENGTH, STEP] = [512, 512, 64];
const PERIOD_MS = (1000 * STEP) / RATE;
/** Time in which V8 compiles, in ms. */
const WARM_MS = 3000;

const { values: options } = parseArgs({
  options: {
    streams: { type: 'string', default: '4,8,16,24,32,48,64,96,128' },
    seconds: { type: 'string', default: '8' },
    limit: { type: 'string', default: '100' },
  },
});
const [seconds, limit] = [Number(options.seconds), Number(options.limit)];

const python = setUp({ nodeOrt: false, sentiment: false });
const packages = installPackages(python, 'mne', path.join(BENCH, 'channels/requirements.txt'));
const env = { ...process.env, PYTHONPATH: packages };
const folder = path.join(BUILD, 'shapes/eegnet-64');
const maker = path.join(BENCH, 'channels/model.py');
once(folder, [maker], 'random weights of the shape of EEGNet', () =>
  run(python, [maker, folder], { env }),
);

/** Opens a stream. @param onWindow called with the number of each window that has a prediction */
function open(port, onWindow) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/stream`, { perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code, reason) => reject(new Error(`closed: ${code} ${reason}`)));
    socket.on('open', () =>
      socket.send(JSON.stringify({ sampling_rate_hz: RATE, step: STEP, format: 'f32' })),
    );
    socket.on('message', (data) => {
      const { window, diagnosis, stream } = JSON.parse(String(data));
      if (stream) resolve(socket);
      else if (window !== undefined && diagnosis !== null) onWindow(window);
    });
  });
}

async function serve(count) {
  const port = await freePort();
  const service = startProcess(
    [process.execPath, path.join(ROOT, 'dist/main.js'), 'serve', path.join(folder, 'eeg_model.pt')],
    {
      env: { ...process.env, PORT: String(port), BODY_MEMORY: '1024mb', LOG_LEVEL: 'error' },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  try {
    for (let tries = 0; !(await isReady(port)); tries++) {
      if (tries > 300) throw new Error('the service did not start');
      await delay(100);
    }
    return await measure(port, count);
  } finally {
    await service.stop();
  }
}

const isReady = (port) =>
  fetch(`http://127.0.0.1:${port}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

async function measure(port, count) {
  const sentAt = Array.from({ length: count }, () => []);
  const latencies = [];
  const sockets = [];
  for (let index = 0; index < count; index++) {
    sockets.push(
      await open(port, (window) => {
        // Window k is complete with block k + LENGTH / STEP - 1.
        const sent = sentAt[index][window + LENGTH / STEP - 1];
        if (sent - start > WARM_MS) latencies.push(performance.now() - sent);
      }),
    );
  }
  const samples = Float32Array.from(
    { length: CHANNELS * STEP },
    (_, i) => 10 * Math.sin(i / 7) + 10 * Math.random(),
  );
  const bytes = Buffer.from(samples.buffer);
  const start = performance.now();
  const end = WARM_MS + seconds * 1000;
  let expected = 0;
  for (let now = 0; now < end; now = performance.now() - start) {
    for (let index = 0; index < count; index++) {
      const blocks = sentAt[index];
      if ((index / count + blocks.length) * PERIOD_MS > now) continue;
      blocks.push(performance.now());
      if (now > WARM_MS && blocks.length >= LENGTH / STEP) expected++;
      sockets[index].send(bytes);
    }
    await delay(1);
  }
  await delay(2 * limit);
  for (const socket of sockets) socket.terminate();
  latencies.sort((a, b) => a - b);
  return {
    windows: latencies.length,
    share: latencies.length / expected,
    p50_ms: quantile(latencies, 0.5),
    p99_ms:
      latencies.length < 0.99 * expected ? Number.POSITIVE_INFINITY : quantile(latencies, 0.99),
  };
}

function loop(count) {
  const args = [path.join(BENCH, 'channels/loop.py'), folder, String(count), String(seconds)];
  const { status, stdout, stderr } = spawnSync(python, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

console.log(describeMachine());
const sides = { 'this server': serve, 'Python loop': loop };
const most = Object.fromEntries(Object.keys(sides).map((side) => [side, 0]));
const running = new Set(Object.keys(sides));
for (const count of options.streams.split(',').map(Number)) {
  for (const side of [...running]) {
    const { p50_ms, p99_ms } = await sides[side](count);
    console.log(
      `${side}, ${count} streams: p50 ${p50_ms.toFixed(1)} ms, p99 ${p99_ms.toFixed(1)} ms`,
    );
    if (p99_ms < limit) most[side] = count;
    else running.delete(side);
  }
}
console.log(`most streams with a p99 under ${limit} ms: ${JSON.stringify(most)}`);
