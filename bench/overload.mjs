/**
 * What happens when more arrives than can be computed: an open loop sends requests when they are due,
 * whatever the answers do, at multiples of what the service can do at its best (its peak: 64 clients
 * in a closed loop, the better of a run before and a run after). Then the signal service, which HTTP
 * limits, with thousands of clients in a closed loop.
 *
 *   node bench/overload.mjs [--service sentiment,eeg] [--seconds 60] [--factors 0.8,4,10]
 *
 * Needs a built service (npm run build) and a C++ compiler, for the driver (bench/openloop.cc), which
 * shares the cores with the service.
 */
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { prepareRequest } from './load.mjs';
import { BUILD } from './paths.mjs';
import { OURS, ROUTES, start, usage } from './servers.mjs';

const { values: options } = parseArgs({
  options: {
    service: { type: 'string', default: 'sentiment,eeg' },
    seconds: { type: 'string', default: '60' },
    factors: { type: 'string', default: '0.8,4,10' },
  },
});
const SECONDS = Number(options.seconds);
const PEAK_SECONDS = Math.min(10, SECONDS);
const CLIENTS = 64;
/** More requests than these are not under way at once; what is due meanwhile is counted as unsent. */
const CONNECTIONS = 2048;
const CLOSED_LOOPS = { sentiment: [], eeg: [1024, 4096] };

const run = promisify(execFile);

function buildDriver() {
  const driver = path.join(BUILD, 'openloop');
  const source = fileURLToPath(new URL('openloop.cc', import.meta.url));
  fs.mkdirSync(BUILD, { recursive: true });
  execFileSync(process.env.CXX ?? 'c++', ['-O2', '-std=c++20', '-o', driver, source]);
  return driver;
}

/** rate: requests a second; 0: a closed loop. */
async function drive(driver, { port, service, bodies }, { rate, seconds, connections }) {
  const numbers = [rate, seconds, connections].map(String);
  const { stdout } = await run(driver, [port, ROUTES[service], bodies, ...numbers].map(String));
  return JSON.parse(stdout);
}

function row(name, result, { peak, pid }) {
  const { byStatus, goodput, health, unsent, withoutRetryAfter } = result;
  const { 200: served, 503: refused, ...others } = byStatus;
  const statuses = Object.entries(others).map(([status, { n }]) => `${n} × ${status}`);
  const ms = (figures, quantile) => (figures ? Math.round(figures[quantile] * 10) / 10 : null);
  return {
    load: name,
    'of the peak': `${((100 * goodput) / peak).toFixed(0)} %`,
    '200 p50 ms': ms(served, 'p50'),
    '200 p99 ms': ms(served, 'p99'),
    503: refused?.n ?? 0,
    '503 p99 ms': ms(refused, 'p99'),
    'no Retry-After': withoutRetryAfter,
    others: statuses.join(', ') || 'none',
    unsent,
    'health p99 ms': ms(health, 'p99'),
    'MB after': Math.round(usage(pid).rss),
  };
}

async function measure(driver, service) {
  const bodies = path.join(BUILD, `overload-${service}.jsonl`);
  const texts = makeBodies(service, 2000);
  fs.writeFileSync(bodies, `${texts.join('\n')}\n`);
  const request = prepareRequest(ROUTES[service], texts[0]);
  const server = await start(OURS, { service, request });
  const target = { port: server.port, service, bodies };
  try {
    const closed = (connections, seconds = SECONDS) =>
      drive(driver, target, { rate: 0, seconds, connections });
    await closed(CLIENTS, Math.min(3, SECONDS)); // V8 compiles
    const before = (await closed(CLIENTS, PEAK_SECONDS)).goodput;
    const results = [];
    for (const factor of options.factors.split(',').map(Number)) {
      const rate = factor * before;
      const name = `${factor} × the peak`;
      results.push([
        name,
        await drive(driver, target, { rate, seconds: SECONDS, connections: CONNECTIONS }),
      ]);
    }
    for (const connections of CLOSED_LOOPS[service]) {
      results.push([`${connections} clients`, await closed(connections)]);
    }
    const peak = Math.max(before, (await closed(CLIENTS, PEAK_SECONDS)).goodput);
    console.log(`\n${service}: peak ${peak.toFixed(0)} requests/s, ${SECONDS} s each`);
    console.table(results.map(([name, result]) => row(name, result, { peak, pid: server.pid })));
  } finally {
    await server.stop();
  }
}

const driver = buildDriver();
for (const service of options.service.split(',')) await measure(driver, service);
