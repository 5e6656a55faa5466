/**
 * What several event loops give and cost: requests a second, requests for a second of processor time,
 * p50 of one client, memory and cold start, by EVENT_LOOPS, in turn within each round.
 *
 *   node bench/event-loops.mjs [--service eeg|sentiment] [--loops 1,2] [--seconds 5] [--rounds 3] [--clients 64]
 *
 * Needs a built service (npm run build). The driver takes up to a core of its own.
 */
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { load, prepareRequest } from './load.mjs';
import { median } from './report.mjs';
import { OURS, ROUTES, start, usage } from './servers.mjs';

const WARMUP = 2;

const { values: options } = parseArgs({
  options: {
    service: { type: 'string', default: 'eeg' },
    loops: { type: 'string', default: '1,2' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '64' },
  },
});
const { service } = options;
const seconds = Number(options.seconds);
const counts = options.loops.split(',').map(Number);
const requests = makeBodies(service, 2000).map((body) => prepareRequest(ROUTES[service], body));

async function measure(loops) {
  const env = { EVENT_LOOPS: String(loops) };
  const server = await start(OURS, { service, request: requests[0], env });
  try {
    const common = { port: server.port, requests, seconds };
    await load({ ...common, clients: Number(options.clients), seconds: 0, warmup: WARMUP });
    const before = usage(server.pid).cpu;
    const many = await load({ ...common, clients: Number(options.clients), warmup: 0 });
    const { cpu, peak } = usage(server.pid);
    const one = await load({ ...common, clients: 1, warmup: 0 });
    const { coldStart } = server;
    return { ...many, cores: (cpu - before) / seconds, one: one.p50_ms, peak, coldStart };
  } finally {
    await server.stop();
  }
}

const rounds = [];
for (let round = 0; round < Number(options.rounds); round += 1) {
  const results = [];
  for (const loops of counts) results.push(await measure(loops));
  rounds.push(results);
}
const of = (index, figure) => median(rounds.map((results) => figure(results[index], results[0])));
console.table(
  counts.map((loops, index) => ({
    EVENT_LOOPS: loops,
    'requests/s': of(index, ({ rps }) => rps).toFixed(0),
    times: of(index, ({ rps }, first) => rps / first.rps).toFixed(2),
    'cores used': of(index, ({ cores }) => cores).toFixed(2),
    'requests for a second of a core': of(index, ({ rps, cores }) => rps / cores).toFixed(0),
    'p99 ms': of(index, ({ p99_ms }) => p99_ms).toFixed(1),
    'p50 ms of one client': of(index, ({ one }) => one).toFixed(2),
    'peak MB': of(index, ({ peak }) => peak).toFixed(0),
    'cold start s': of(index, ({ coldStart }) => coldStart).toFixed(2),
    'not 200': of(index, ({ bad }) => bad).toFixed(0),
  })),
);
