/**
 * What another busy process costs: this server's throughput at 64 clients and its p99 at 8, with one
 * core taken by a process that never sleeps, against the quiet figures of the same round.
 *
 *   node bench/contention.mjs [--service sentiment|eeg] [--seconds 5] [--rounds 3]
 *
 * Needs a built service (npm run build).
 */
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { load, prepareRequest } from './load.mjs';
import { median } from './report.mjs';
import { OURS, ROUTES, start, startProcess } from './servers.mjs';

const WARMUP = 1;

const { values: options } = parseArgs({
  options: {
    service: { type: 'string', default: 'sentiment' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
  },
});
const { service } = options;
const requests = makeBodies(service, 2000).map((body) => prepareRequest(ROUTES[service], body));

/** Requests per second at 64 clients and p99 in ms at 8. */
async function measure(port) {
  const shared = { port, requests, seconds: Number(options.seconds), warmup: WARMUP };
  const { rps } = await load({ ...shared, clients: 64 });
  const { p99_ms } = await load({ ...shared, clients: 8 });
  return { rps, p99_ms };
}

async function measureBusy(port) {
  const busy = startProcess([process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' });
  try {
    return await measure(port);
  } finally {
    await busy.stop();
  }
}

const rounds = [];
const server = await start(OURS, { service, request: requests[0] });
try {
  for (let round = 0; round < Number(options.rounds); round += 1) {
    rounds.push({ quiet: await measure(server.port), busy: await measureBusy(server.port) });
  }
} finally {
  await server.stop();
}
console.table(
  rounds.map(({ quiet, busy }) => ({
    'quiet requests/s, 64 clients': quiet.rps.toFixed(1),
    busy: busy.rps.toFixed(1),
    share: `${((100 * busy.rps) / quiet.rps).toFixed(0)} %`,
    'quiet p99 ms, 8 clients': quiet.p99_ms.toFixed(1),
    'busy p99 ms': busy.p99_ms.toFixed(1),
    times: (busy.p99_ms / quiet.p99_ms).toFixed(2),
  })),
);
const share = median(rounds.map(({ quiet, busy }) => busy.rps / quiet.rps));
const times = median(rounds.map(({ quiet, busy }) => busy.p99_ms / quiet.p99_ms));
console.log(
  `with one core taken, medians: ${(100 * share).toFixed(0)} % of the quiet throughput at 64 clients, ` +
    `${times.toFixed(2)} × the quiet p99 at 8`,
);
