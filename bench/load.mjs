/**
 * A closed-loop load driver: each of N keep-alive connections sends its next request when the answer
 * to the last one is in. Plain sockets and prepared requests, because the driver shares the cores
 * with the server it measures.
 */
import net from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** [status, total bytes] when the buffer holds a whole response with a Content-Length, else null. */
function parseResponse(buffer) {
  const end = buffer.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = buffer.latin1Slice(0, end);
  const length = /\r\ncontent-length:\s*(\d+)/i.exec(head);
  if (!length) throw new Error(`a response without Content-Length: ${head}`);
  const total = end + 4 + Number(length[1]);
  return buffer.length >= total
    ? { status: Number(head.slice(9, 12)), body: [end + 4, total] }
    : null;
}

/** One keep-alive connection; ask() resolves with { status, body } (status 0: the connection broke). */
export class Connection {
  #socket = null;
  #buffer = null;
  #resolve = null;

  constructor(port) {
    this.port = port;
  }

  ask(request) {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (!this.#socket) this.#open();
      this.#socket.write(request);
    });
  }

  close() {
    this.#socket?.destroy();
  }

  #open() {
    const socket = net.connect({ host: '127.0.0.1', port: this.port, noDelay: true });
    this.#socket = socket;
    this.#buffer = null;
    socket.on('data', (chunk) => {
      this.#buffer = this.#buffer ? Buffer.concat([this.#buffer, chunk]) : chunk;
      const response = parseResponse(this.#buffer);
      if (!response) return;
      const body = this.#buffer.utf8Slice(...response.body);
      this.#buffer = null;
      this.#settle({ status: response.status, body });
    });
    const broken = () => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#settle({ status: 0, body: '' });
    };
    socket.on('error', broken);
    socket.on('close', broken);
  }

  #settle(answer) {
    const resolve = this.#resolve;
    this.#resolve = null;
    resolve?.(answer);
  }
}

export function prepareRequest(path, body) {
  const bytes = Buffer.from(body);
  const head =
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

export function quantile(sorted, share) {
  if (sorted.length === 0) return Number.NaN;
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

/** The latencies in ms of GET /health every 50 ms, on new connections; runs on a thread of its own. */
async function probeHealth({ port, seconds }) {
  const until = performance.now() + seconds * 1000;
  const request = Buffer.from('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  const latencies = [];
  while (performance.now() < until) {
    const connection = new Connection(port);
    const start = performance.now();
    const { status } = await connection.ask(request);
    latencies.push(status === 200 ? performance.now() - start : Number.POSITIVE_INFINITY);
    connection.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return latencies.sort((a, b) => a - b);
}

/**
 * Load a server with `clients` connections for warmup + seconds, or longer until each has sent one request after
 * the warm-up; counts only those. work: useful FLOPs of each request, if known.
 * Returns requests per second, latency quantiles in ms, answers other than 200, the latency of
 * GET /health meanwhile, all answers (those of the warm-up too), and useful GFLOP/s.
 */
export async function load({ port, requests, work, clients, seconds, warmup }) {
  const from = performance.now() + warmup * 1000;
  const to = from + seconds * 1000;
  const latencies = [];
  let [next, inside, bad, answered, flops] = [0, 0, 0, 0, 0];
  /** The part of a request's time that is measured: answers that take seconds are no whole number in so short a time. */
  const partInside = (start, end) =>
    Math.max(0, Math.min(end, to) - Math.max(start, from)) / (end - start);
  const health = new Promise((resolve, reject) => {
    const workerData = { port, seconds: warmup + seconds };
    const probe = new Worker(new URL(import.meta.url), { workerData });
    probe.once('message', resolve).once('error', reject);
  });
  const client = async () => {
    const connection = new Connection(port);
    let sent = 0;
    // Each sends one at least after the warm-up: there is a latency of requests that take longer than all of it, too.
    for (let start = performance.now(); start < to || sent === 0; start = performance.now()) {
      const index = next;
      next = (next + 1) % requests.length;
      const { status } = await connection.ask(requests[index]);
      const end = performance.now();
      if (status !== 0) answered += 1;
      if (start >= from) {
        sent += 1;
        if (status === 200) latencies.push(end - start);
        else bad += 1;
      }
      if (status === 200) {
        inside += partInside(start, end);
        flops += partInside(start, end) * (work?.[index] ?? 0);
      }
      if (status === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: clients }, client));
  latencies.sort((a, b) => a - b);
  const probes = await health;
  return {
    clients,
    rps: inside / seconds,
    p50_ms: quantile(latencies, 0.5),
    p95_ms: quantile(latencies, 0.95),
    p99_ms: quantile(latencies, 0.99),
    bad,
    health_p99_ms: quantile(probes, 0.99),
    answered,
    useful_gflops: flops / seconds / 1e9,
  };
}

/** Send the requests over `clients` connections, each once; the answers, in order. */
export async function askAll({ port, requests, clients, keep = true }) {
  const answers = [];
  let next = 0;
  const client = async () => {
    const connection = new Connection(port);
    while (next < requests.length) {
      const index = next;
      next += 1;
      const answer = await connection.ask(requests[index]);
      if (answer.status !== 200) {
        throw new Error(`request ${index}: status ${answer.status} ${answer.body}`);
      }
      if (keep) answers[index] = answer.body;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: clients }, client));
  return answers;
}

if (!isMainThread) parentPort.postMessage(await probeHealth(workerData));
