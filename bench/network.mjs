/**
 * What bad clients cost good ones: the latency of two good clients (one that keeps its connection, one
 * that connects for each request), quiet and while bad clients of one kind are there; and what memory
 * and descriptors the service has then.
 *
 *   node bench/network.mjs [--service sentiment|eeg] [--seconds 10] [--count 2000] [--kinds …]
 *
 * Needs a built service (npm run build). Linux only. How many connections the service takes is its
 * MAX_CONNECTIONS, from the environment of this command.
 */
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { Connection, prepareRequest, quantile } from './load.mjs';
import { OURS, ROUTES, start, startProcess, usage } from './servers.mjs';

const KINDS = 'silent,slow-headers,slow-bodies,slow-readers,pipelining,killed-in-body,no-http';
/** Between two requests of a good client, and between two looks at the process, in ms. */
const PAUSE_MS = 5;
const LOOK_MS = 200;

const { values: options } = parseArgs({
  options: {
    service: { type: 'string', default: 'sentiment' },
    seconds: { type: 'string', default: '10' },
    count: { type: 'string', default: '2000' },
    kinds: { type: 'string', default: KINDS },
  },
});
const { service } = options;
const route = ROUTES[service];
const requests = makeBodies(service, 500).map((body) => prepareRequest(route, body));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Latencies in ms, and what was not 200, of the good clients for so many seconds. */
async function measure({ port, pid }, seconds) {
  const until = performance.now() + seconds * 1000;
  const seen = { latencies: [], bad: 0, rss: 0, descriptors: 0 };
  const client = async (keeps) => {
    let connection = new Connection(port);
    for (let i = 0; performance.now() < until; i += 1) {
      const begin = performance.now();
      let { status } = await connection.ask(requests[i % requests.length]);
      // A kept connection may have been closed meanwhile: then a client asks again (RFC 9112, 9.3.1).
      if (status === 0 && keeps) ({ status } = await connection.ask(requests[i % requests.length]));
      if (status === 200) seen.latencies.push(performance.now() - begin);
      else seen.bad += 1;
      if (!keeps) {
        connection.close();
        connection = new Connection(port);
      }
      await pause(PAUSE_MS);
    }
    connection.close();
  };
  const look = async () => {
    while (performance.now() < until) {
      seen.rss = Math.max(seen.rss, usage(pid).rss);
      seen.descriptors = Math.max(seen.descriptors, fs.readdirSync(`/proc/${pid}/fd`).length);
      await pause(LOOK_MS);
    }
  };
  await Promise.all([client(true), client(false), look()]);
  seen.latencies.sort((a, b) => a - b);
  return seen;
}

async function measureUnder(kind, server) {
  const script = fileURLToPath(new URL('attacks.mjs', import.meta.url));
  const { port } = server;
  const args = [kind, '--port', port, '--count', options.count, '--path', route];
  const attack = startProcess([process.execPath, script, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let done = '';
  attack.child.stdout.on('data', (text) => {
    done += text;
  });
  await pause(1000 + Number(options.count)); // until all of them are there
  const seen = await measure(server, Number(options.seconds));
  await attack.stop();
  return { ...seen, attack: JSON.parse(done.replace('started', '')) };
}

const rows = [];
for (const kind of options.kinds.split(',')) {
  const server = await start(OURS, { service, request: requests[0] });
  try {
    await measure(server, 2); // warm
    const quiet = await measure(server, Number(options.seconds));
    const bad = await measureUnder(kind, server);
    const p99 = (latencies) => quantile(latencies, 0.99);
    const row = {
      kind,
      'quiet p50, p99 ms': [quantile(quiet.latencies, 0.5), p99(quiet.latencies)]
        .map((ms) => ms.toFixed(1))
        .join(', '),
      'p50, p99 ms': [quantile(bad.latencies, 0.5), p99(bad.latencies)]
        .map((ms) => ms.toFixed(1))
        .join(', '),
      times: (p99(bad.latencies) / p99(quiet.latencies)).toFixed(2),
      answered: bad.latencies.length,
      'not 200': bad.bad,
      'MB, quiet → most': `${quiet.rss.toFixed(0)} → ${bad.rss.toFixed(0)}`,
      'descriptors, most': bad.descriptors,
      'bad connections, most': bad.attack.most,
      opened: bad.attack.opened,
    };
    console.log(JSON.stringify(row));
    rows.push(row);
  } finally {
    await server.stop();
  }
}
console.table(rows);
