/**
 * What RESULT_CACHE_MB gives: requests a second, p50 and the service's processor time a request, where a
 * share of the texts has been asked before, in turn within each round.
 *
 *   node bench/result-cache.mjs [--seconds 4] [--rounds 3] [--clients 8] [--megabytes 64]
 *
 * Needs a built service (npm run build). The driver shares the cores. `new` are texts that do not come
 * again, with the cache and without it: what it costs where it is of no use.
 */
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { load, prepareRequest } from './load.mjs';
import { describeMachine, machineType } from './machine.mjs';
import { median } from './report.mjs';
import { OURS, ROUTES, start, usage } from './servers.mjs';

const SERVICE = 'sentiment';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '8' },
    megabytes: { type: 'string', default: '64' },
  },
});
const [seconds, clients] = [Number(options.seconds), Number(options.clients)];
const prepared = (count, seed) =>
  makeBodies(SERVICE, count, seed).map((body) => prepareRequest(ROUTES[SERVICE], body));
/** More texts than a run asks for, and few. */
const NEW = prepared(50_000, 1);
const AGAIN = prepared(200, 2);
const SIDES = {
  'new, off': { requests: NEW, megabytes: 0 },
  'new, kept': { requests: NEW, megabytes: Number(options.megabytes) },
  'again, off': { requests: AGAIN, megabytes: 0 },
  'again, kept': { requests: AGAIN, megabytes: Number(options.megabytes) },
};

async function measure({ requests, megabytes }) {
  const env = { RESULT_CACHE_MB: String(megabytes) };
  const server = await start(OURS, { service: SERVICE, request: requests[0], env });
  try {
    const common = { port: server.port, requests, clients };
    await load({ ...common, requests: AGAIN, warmup: 2, seconds: 0 });
    const before = usage(server.pid).cpu;
    const { answered, rps, p50_ms, bad } = await load({ ...common, warmup: 0, seconds });
    return { rps, p50_ms, bad, cpu_ms: (1000 * (usage(server.pid).cpu - before)) / answered };
  } finally {
    await server.stop();
  }
}

const rounds = [];
for (let round = 0; round < Number(options.rounds); round += 1) {
  const results = {};
  for (const [name, side] of Object.entries(SIDES)) results[name] = await measure(side);
  rounds.push(results);
}
console.log(`${machineType(describeMachine())}; ${clients} clients`);
const of = (name, figure) => median(rounds.map((results) => figure(results[name])));
console.table(
  Object.fromEntries(
    Object.keys(SIDES).map((name) => [
      name,
      {
        'requests/s': of(name, ({ rps }) => rps).toFixed(0),
        'p50 ms': of(name, ({ p50_ms }) => p50_ms).toFixed(2),
        'processor ms': of(name, ({ cpu_ms }) => cpu_ms).toFixed(3),
        'not 200': of(name, ({ bad }) => bad),
      },
    ]),
  ),
);
