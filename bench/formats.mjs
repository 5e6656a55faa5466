/**
 * What the number formats give: requests a second and p50 of one client, by DTYPE, in turn within each
 * round, as ratios to the first of them in the same round.
 *
 *   node bench/formats.mjs [--formats float32,bfloat16,int8] [--seconds 5] [--rounds 3] [--clients 64]
 *
 * Needs a built service (npm run build). The driver shares the cores. A format that is of no use on
 * this machine ends the run with the service's own words.
 */
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { load, prepareRequest } from './load.mjs';
import { describeMachine, machineType } from './machine.mjs';
import { median } from './report.mjs';
import { OURS, ROUTES, start, usage } from './servers.mjs';

const WARMUP = 2;
const SERVICE = 'sentiment';

const { values: options } = parseArgs({
  options: {
    formats: { type: 'string', default: 'float32,bfloat16,int8' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '64' },
  },
});
const formats = options.formats.split(',');
const [seconds, clients] = [Number(options.seconds), Number(options.clients)];
const requests = makeBodies(SERVICE, 2000).map((body) => prepareRequest(ROUTES[SERVICE], body));

async function measure(format) {
  const env = { DTYPE: format };
  const server = await start(OURS, { service: SERVICE, request: requests[0], env });
  try {
    const common = { port: server.port, requests };
    await load({ ...common, clients, warmup: WARMUP, seconds: 0 });
    const before = usage(server.pid).cpu;
    const many = await load({ ...common, clients, warmup: 0, seconds });
    const cpu = (usage(server.pid).cpu - before) / many.answered;
    const one = await load({ ...common, clients: 1, warmup: 1, seconds });
    return { rps: many.rps, cpu, one: one.p50_ms, bad: many.bad + one.bad };
  } finally {
    await server.stop();
  }
}

const rounds = [];
for (let round = 0; round < Number(options.rounds); round += 1) {
  const results = [];
  for (const format of formats) results.push(await measure(format));
  rounds.push(results);
}
const of = (index, figure) => rounds.map((results) => figure(results[index], results[0]));
const said = (ratios) =>
  `${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`;
console.log(`${machineType(describeMachine())}; ${clients} clients, then 1`);
console.table(
  formats.map((format, index) => ({
    DTYPE: format,
    'requests/s': median(of(index, ({ rps }) => rps)).toFixed(0),
    times: said(of(index, ({ rps }, first) => rps / first.rps)),
    'in CPU time': said(of(index, ({ cpu }, first) => first.cpu / cpu)),
    'p50 ms of one client': median(of(index, ({ one }) => one)).toFixed(2),
    'shorter by': said(of(index, ({ one }, first) => first.one / one)),
    'not 200': of(index, ({ bad }) => bad).reduce((sum, bad) => sum + bad, 0),
  })),
);
