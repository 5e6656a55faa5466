/**
 * Did a change make the services slower? Two built checkouts in one run, in turn: the ratios of their requests per
 * second and latencies, the median over the rounds.
 *
 * Usage: node bench/sides.mjs OTHER_CHECKOUT [--rounds 5] [--seconds 5] [--clients 1,8,64] [--service sentiment,eeg]
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { load, prepareRequest } from './load.mjs';
import { ROOT } from './paths.mjs';
import { inTurn, median } from './report.mjs';
import { OURS, ROUTES, start } from './servers.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    clients: { type: 'string', default: '1,8,64' },
    service: { type: 'string', default: 'sentiment,eeg' },
  },
});
if (positionals.length !== 1) throw new Error('expected the folder of another built checkout');
const sides = [ROOT, path.resolve(positionals[0])];
const levels = options.clients.split(',').map(Number);

for (const service of options.service.split(',')) {
  const requests = makeBodies(service, 400).map((body) => prepareRequest(ROUTES[service], body));
  const rounds = await inTurn(sides, Number(options.rounds), (root) =>
    measure(service, requests, root),
  );
  for (const [index, clients] of levels.entries())
    print(
      service,
      clients,
      rounds.map(([ours, theirs]) => [ours[index], theirs[index]]),
    );
}

/** All levels of one side, started for it. */
async function measure(service, requests, root) {
  const server = await start(OURS, { service, request: requests[0], root });
  try {
    const results = [];
    for (const clients of levels) {
      const plan = {
        port: server.port,
        requests,
        clients,
        seconds: Number(options.seconds),
        warmup: 1,
      };
      results.push(await load(plan));
    }
    return results;
  } finally {
    await server.stop();
  }
}

function print(service, clients, pairs) {
  const ratioOf = (read) => median(pairs.map(([ours, theirs]) => read(ours) / read(theirs)));
  const [ours, theirs] = [0, 1].map((side) =>
    median(pairs.map((pair) => pair[side].rps)).toFixed(0),
  );
  const bad = pairs.flat().reduce((sum, each) => sum + each.bad, 0);
  console.log(
    `${service}, ${clients} clients: ${ours} requests/s, the other ${theirs}; ratio ${ratioOf(({ rps }) => rps).toFixed(3)}, ` +
      `of p50 ${ratioOf(({ p50_ms }) => p50_ms).toFixed(3)}, of p99 ${ratioOf(({ p99_ms }) => p99_ms).toFixed(3)}; not 200: ${bad}`,
  );
}
