/**
 * This server's memory over time.
 *
 *   node bench/memory.mjs lengths                         texts of 1 to 500 words, each once, three times over
 *   node bench/memory.mjs requests [--service sentiment|eeg] [--count 100000]
 *
 * Prints the resident memory after each pass, or after the first 10,000 requests and then after each
 * 100,000 more (sentiment: texts of 1 to 8 words). Needs a built service (npm run build).
 */
import { parseArgs } from 'node:util';
import { makeBodies, makeTexts } from './bodies.mjs';
import { askAll, prepareRequest } from './load.mjs';
import { OURS, ROUTES, start, usage } from './servers.mjs';

const PASSES = 3;
const [FIRST, STEP] = [10_000, 100_000];
const [LENGTH_CLIENTS, REQUEST_CLIENTS] = [8, 64];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    service: { type: 'string', default: 'sentiment' },
    count: { type: 'string', default: String(STEP) },
  },
});

/** Send what each part says, to one server; a table of the memory after each. */
async function watch(service, parts) {
  const prepare = (body) => prepareRequest(ROUTES[service], body);
  const server = await start(OURS, { service, request: prepare(parts[0].bodies[0]) });
  const rows = [{ after: 'start', 'RSS MB': usage(server.pid).rss.toFixed(1) }];
  try {
    let before = usage(server.pid).rss;
    for (const { after, bodies, clients, count } of parts) {
      const requests = bodies.map(prepare);
      await askAll({ port: server.port, requests, clients, count, keep: false });
      const { rss } = usage(server.pid);
      rows.push({ after, 'RSS MB': rss.toFixed(1), 'change MB': (rss - before).toFixed(1) });
      before = rss;
      console.log(`${after}: ${rss.toFixed(1)} MB`);
    }
  } finally {
    await server.stop();
  }
  console.table(rows);
}

function lengths() {
  const bodies = makeTexts(Array.from({ length: 500 }, (_, i) => i + 1));
  return Array.from({ length: PASSES }, (_, i) => ({
    after: `pass ${i + 1} of ${bodies.length} lengths`,
    bodies,
    clients: LENGTH_CLIENTS,
    count: bodies.length,
  }));
}

function requests(service, count) {
  const short = Array.from({ length: 2000 }, (_, i) => (i % 8) + 1);
  const bodies = service === 'eeg' ? makeBodies('eeg', 2000) : makeTexts(short);
  const part = (after, of) => ({ after, bodies, clients: REQUEST_CLIENTS, count: of });
  const parts = [part(`the first ${FIRST}`, FIRST)];
  for (let done = 0; done < count; done += STEP) {
    const more = Math.min(STEP, count - done);
    parts.push(part(`${done + more} more`, more));
  }
  return parts;
}

switch (positionals[0]) {
  case 'lengths':
    await watch('sentiment', lengths());
    break;
  case 'requests':
    await watch(options.service, requests(options.service, Number(options.count)));
    break;
  default:
    console.error('usage: node bench/memory.mjs lengths | requests (see the file)');
    process.exitCode = 2;
}
