/**
 * What happens when more arrives than can be computed: an open loop sends requests when they are due,
 * whatever the answers do, at multiples of what the service can do at its best (its peak: 64 clients
 * in a closed loop, the better of a run before and a run after). Then the signal service, which HTTP
 * limits, with thousands of clients in a closed loop.
 *
 * With --floor also what node:http itself takes: the service at its peak, while a bare node:http server
 * beside it, which answers 503 and does nothing else, gets what is beyond the peak.
 *
 *   node bench/overload.mjs [--service sentiment,eeg] [--seconds 60] [--factors 0.8,4,10] [--floor]
 *
 * Needs a built service (npm run build) and a C++ compiler, for the driver (bench/openloop.cc), which
 * shares the cores with the service.
 */
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { prepareRequest } from './load.mjs';
import { BUILD } from './paths.mjs';
import { OURS, ROUTES, start, startProcess, usage } from './servers.mjs';

const { values: options } = parseArgs({
  options: {
    service: { type: 'string', default: 'sentiment,eeg' },
    seconds: { type: 'string', default: '60' },
    factors: { type: 'string', default: '0.8,4,10' },
    floor: { type: 'boolean', default: false },
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

/** Starts the bare server; it says its port. */
async function startRefuser() {
  const script = fileURLToPath(new URL('refuser.mjs', import.meta.url));
  const { child, stop } = startProcess([process.execPath, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = await once(child.stdout, 'data');
  return { port: Number(port), stop };
}

/** The service at its peak beside a bare server that refuses what is beyond it. */
async function measureFloor(driver, target, { factor, peak, closed }) {
  const refuser = await startRefuser();
  try {
    const rate = (factor - 1) * peak;
    const beyond = { rate, seconds: SECONDS, connections: CONNECTIONS };
    const [served, refused] = await Promise.all([
      closed(CLIENTS),
      drive(driver, { ...target, port: refuser.port }, beyond),
    ]);
    return { ...served, byStatus: { ...refused.byStatus, 200: served.byStatus[200] } };
  } finally {
    await refuser.stop();
  }
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
      if (options.floor && factor > 1) {
        const floor = await measureFloor(driver, target, { factor, peak: before, closed });
        results.push([`${factor} ×, refused by bare node:http`, floor]);
      }
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
