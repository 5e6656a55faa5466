/**
 * Bad clients of one kind, until it is told to stop (SIGTERM): then it prints what it did, as JSON.
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

/** Connections opened in a second, so that this process does not become the load itself. */
const OPENED_EVERY_MS = 10;
const OPENED_AT_ONCE = 10;
/** One byte, or one request, from each every so often. */
const TRICKLE_MS = 1000;

const body = (text) => JSON.stringify({ text });
const head = (length, headers = '') =>
  `POST ${values.path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${length}\r\n\r\n`;
const whole = (text) => head(body(text).length) + body(text);
const PART = 'x'.repeat(20_000);
/** More than the kernel holds for a connection. */
const LARGE_ANSWERS = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(600);

/**
 * What each kind writes when it is connected, and then every second; how many of `count` it takes to be
 * a nuisance, and no more load than a good client might be.
 */
const KINDS = {
  silent: {},
  'slow-headers': { first: `POST ${values.path} HTTP/1.1\r\nHost: x\r\nX: `, again: 'x' },
  'slow-bodies': { first: head(1_000_000) + PART, again: PART },
  'slow-readers': { first: LARGE_ANSWERS, reads: false, share: 0.1 },
  // Refused with 400: the work of HTTP, and none of the model.
  pipelining: { first: whole(' ').repeat(200), again: whole(' ').repeat(200), share: 0.01 },
  'killed-in-body': { first: head(1_000_000) + 'x'.repeat(10_000), leaves: true },
  'no-http': { first: 'hello\r\n\r\n' },
};

const kind = KINDS[positionals[0]];
if (!kind || !(port > 0)) {
  console.error(`expected one of ${Object.keys(KINDS).join(', ')}, and --port`);
  process.exit(2);
}

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

setInterval(() => {
  for (let i = 0; i < OPENED_AT_ONCE && open.size < count; i++) connect();
}, OPENED_EVERY_MS);
setInterval(() => {
  if (!kind.again) return;
  for (const socket of open) if (socket.writableLength === 0) socket.write(kind.again);
}, TRICKLE_MS);

process.on('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(done)}\n`, () => process.exit(0));
});
