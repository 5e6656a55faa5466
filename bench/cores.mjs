/**
 * What the service makes of a share of the machine: under CPU quotas of a control group and under
 * affinity masks, the requests it answers for each second of processor time, against those of the same
 * service without a limit in the same round, and how much of what it was granted it used.
 *
 *   node bench/cores.mjs [--service sentiment|eeg] [--seconds 5] [--rounds 3] [--clients 24]
 *
 * Needs a built service (npm run build), Linux, and the right to make control groups (root).
 */
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { makeControlGroup } from './control-group.cjs';
import { load, prepareRequest } from './load.mjs';
import { median } from './report.mjs';
import { OURS, ROUTES, start, usage } from './servers.mjs';

const WARMUP = 2;

const { values: options } = parseArgs({
  options: {
    service: { type: 'string', default: 'sentiment' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '24' },
  },
});
const { service } = options;
const seconds = Number(options.seconds);
const requests = makeBodies(service, 2000).map((body) => prepareRequest(ROUTES[service], body));

function pinned(cores) {
  return { through: ['taskset', '-c', `0-${cores - 1}`], remove: () => {} };
}

const CASES = [
  { name: 'no limit', granted: os.availableParallelism(), limit: () => ({ remove: () => {} }) },
  ...[0.5, 1, 1.5, 2].map((cores) => ({
    name: `quota of ${cores}`,
    granted: cores,
    limit: () => makeControlGroup(`libtorch-serve-bench-${process.pid}`, 'cpu', cores),
  })),
  ...[1, 2].map((cores) => ({
    name: `${cores} by mask`,
    granted: cores,
    limit: () => pinned(cores),
  })),
];

/** While requests are counted: not what is done for the last ones after that. */
async function coresUsed(pid) {
  await sleep(1000 * WARMUP);
  const before = usage(pid).cpu;
  await sleep(1000 * seconds);
  return (usage(pid).cpu - before) / seconds;
}

/** Requests a second, cores used, and p99. */
async function measure({ limit }) {
  const { through, remove } = limit();
  const server = await start(OURS, { service, request: requests[0], through });
  try {
    const common = { port: server.port, requests, clients: Number(options.clients) };
    const cores = coresUsed(server.pid);
    const { rps, p99_ms, bad } = await load({ ...common, seconds, warmup: WARMUP });
    return { rps, p99_ms, bad, cores: await cores };
  } finally {
    await server.stop();
    remove();
  }
}

const rounds = [];
for (let round = 0; round < Number(options.rounds); round += 1) {
  const results = [];
  for (const each of CASES) results.push(await measure(each));
  rounds.push(results);
}
const of = (index, figure) => median(rounds.map((results) => figure(results[index], results[0])));
console.table(
  CASES.map(({ name, granted }, index) => ({
    limit: name,
    'requests/s': of(index, ({ rps }) => rps).toFixed(0),
    'cores used': of(index, ({ cores }) => cores).toFixed(2),
    'of those granted': `${(100 * of(index, ({ cores }) => cores / granted)).toFixed(0)} %`,
    'requests for a second of a core': of(index, ({ rps, cores }) => rps / cores).toFixed(0),
    'of that without a limit': `${(
      100 * of(index, ({ rps, cores }, free) => rps / cores / (free.rps / free.cores))
    ).toFixed(0)} %`,
    'p99 ms': of(index, ({ p99_ms }) => p99_ms).toFixed(0),
    'not 200': of(index, ({ bad }) => bad).toFixed(0),
  })),
);
