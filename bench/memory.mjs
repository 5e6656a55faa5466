/**
 * This server's memory over time.
 *
 *   node bench/memory.mjs lengths                         texts of 1 to 500 words, each once, three times over
 *   node bench/memory.mjs requests [--service sentiment|eeg] [--count 100000]
 *        [--clients N]    how many connections; lengths: 8, requests: 64
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

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    service: { type: 'string', default: 'sentiment' },
    count: { type: 'string', default: String(STEP) },
    clients: { type: 'string' },
  },
});

/** Send what each part says, to one server; a table of the memory after each. */
async function watch(service, clients, parts) {
  const prepare = (body) => prepareRequest(ROUTES[service], body);
  const server = await start(OURS, { service, request: prepare(parts[0].bodies[0]) });
  const rows = [{ after: 'start', 'RSS MB': usage(server.pid).rss.toFixed(1) }];
  try {
    let before = usage(server.pid).rss;
    for (const { after, bodies, count } of parts) {
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
    count: bodies.length,
  }));
}

function requests(service, count) {
  const short = Array.from({ length: 2000 }, (_, i) => (i % 8) + 1);
  const bodies = service === 'eeg' ? makeBodies('eeg', 2000) : makeTexts(short);
  const part = (after, of) => ({ after, bodies, count: of });
  const parts = [part(`the first ${FIRST}`, FIRST)];
  for (let done = 0; done < count; done += STEP) {
    const more = Math.min(STEP, count - done);
    parts.push(part(`${done + more} more`, more));
  }
  return parts;
}

const [what] = positionals;
if (what === 'lengths') {
  await watch('sentiment', Number(options.clients ?? 8), lengths());
} else if (what === 'requests') {
  const { service, count, clients } = options;
  await watch(service, Number(clients ?? 64), requests(service, Number(count)));
} else {
  console.error('usage: node bench/memory.mjs lengths | requests (see the file)');
  process.exitCode = 2;
}
