/**
 * This server's memory after texts of 1 to 500 words, each once, three times over.
 *
 *   node bench/memory.mjs [--clients 8]     how many connections
 *
 * Needs a built service (npm run build). Memory over many requests: `npm run test:soak -- memory`.
 */
import { parseArgs } from 'node:util';
import { makeTexts } from './bodies.mjs';
import { askAll, prepareRequest } from './load.mjs';
import { OURS, ROUTES, start, usage } from './servers.mjs';

const PASSES = 3;
const WORDS = 500;

const { values: options } = parseArgs({ options: { clients: { type: 'string', default: '8' } } });

const bodies = makeTexts(Array.from({ length: WORDS }, (_, i) => i + 1));
const requests = bodies.map((body) => prepareRequest(ROUTES.sentiment, body));
const server = await start(OURS, { service: 'sentiment', request: requests[0] });
const rows = [{ after: 'start', 'RSS MB': usage(server.pid).rss.toFixed(1) }];
try {
  for (let pass = 1; pass <= PASSES; pass++) {
    await askAll({ port: server.port, requests, clients: Number(options.clients), keep: false });
    rows.push({ after: `pass ${pass}`, 'RSS MB': usage(server.pid).rss.toFixed(1) });
  }
} finally {
  await server.stop();
}
console.table(rows);
