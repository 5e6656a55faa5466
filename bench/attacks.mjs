/**
 * Bad clients of one kind: `started` on standard output, and when it is told to stop (SIGTERM) what it
 * did, as JSON.
 * Loopback only.
 *
 * Usage: node bench/attacks.mjs KIND --port N [--count connections] [--path route]
 */
import net from 'node:net';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string' },
    count: { type: 'string', default: '100' },
    path: { type: 'string', default: '/analyze' },
  },
});
const port = Number(values.port);

/** A thousandth of its share of `count` opens a connection each ms, so that this is no load in itself. */
const OPENED_EVERY_MS = 10;
/** One byte, or one request, from each every so often. */
const TRICKLE_MS = 1000;

const body = (text) => JSON.stringify({ text });
const head = (length, headers = '') =>
  `POST ${values.path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${length}\r\n\r\n`;
const whole = (text) => head(body(text).length) + body(text);
const PART = 'x'.repeat(20_000);
/** 14 MB, more than the kernel holds for a connection, for hardly any work: the viewer of /docs, 10 times. */
async function largeAnswers() {
  const page = await (await fetch(`http://127.0.0.1:${port}/docs`)).text();
  const [viewer] = /swagger-ui-\w+\.js/.exec(page);
  return `GET /docs/${viewer} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(10);
}

/**
 * What each kind writes when it is connected, and then every second; how many of `count` it takes to be
 * a nuisance, and no more load than a good client might be.
 */
const KINDS = {
  silent: {},
  'slow-headers': { first: `POST ${values.path} HTTP/1.1\r\nHost: x\r\nX: `, again: 'x' },
  'slow-bodies': { first: head(1_000_000) + PART, again: PART },
  'slow-readers': { reads: false, share: 0.2 },
  // Refused with 400: the work of HTTP, and none of the model.
  pipelining: { first: whole(' ').repeat(200), again: whole(' ').repeat(200), share: 0.005 },
  'killed-in-body': { first: head(1_000_000) + 'x'.repeat(10_000), leaves: true, share: 0.2 },
  'no-http': { first: 'hello\r\n\r\n' },
};

const kind = KINDS[positionals[0]];
if (!kind || !(port > 0)) {
  console.error(`expected one of ${Object.keys(KINDS).join(', ')}, and --port`);
  process.exit(2);
}

if (kind === KINDS['slow-readers']) kind.first = await largeAnswers();
const count = Math.ceil(Number(values.count) * (kind.share ?? 1));
const open = new Set();
const done = { opened: 0, closedByServer: 0, failed: 0, most: 0 };

function connect() {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  open.add(socket);
  done.opened++;
  done.most = Math.max(done.most, open.size);
  socket.on('connect', () => {
    if (kind.first) socket.write(kind.first, () => kind.leaves && socket.destroy());
    if (kind.again) setTimeout(writeAgain, TRICKLE_MS, socket);
  });
  // 'no-http' keeps its side open for ever; the others connect anew when they are closed.
  socket.on('end', () => {
    done.closedByServer++;
    if (positionals[0] !== 'no-http') socket.destroy();
  });
  socket.on('error', () => done.failed++);
  socket.on('close', () => open.delete(socket));
  if (kind.reads !== false) socket.resume();
}

let allowed = 0;
setInterval(() => {
  allowed = Math.min(allowed + (count * OPENED_EVERY_MS) / 1000, count);
  for (; allowed >= 1 && open.size < count; allowed--) connect();
}, OPENED_EVERY_MS);

/** Each writes again a second after it last did; not all of them at once. */
function writeAgain(socket) {
  if (socket.destroyed) return;
  if (socket.writableLength === 0) socket.write(kind.again);
  setTimeout(writeAgain, TRICKLE_MS, socket);
}

process.on('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(done)}\n`, () => process.exit(0));
});
process.stdout.write('started\n');
