import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { describeUnexpected } from '../native/unexpected-error';
import { Connections, type FinalResponses } from '../serving/connections';
import type { InvalidStatus } from '../serving/metrics/request-metrics';
import type { ServerContext } from '../serving/server-context';
import { CLIENT_TIMEOUT_MS } from '../serving/timeouts';
import { Transport } from '../serving/transport';
import { createApp, type Site } from './app';
import { expressPrototypes } from './express-prototypes';
import { PendingResponses } from './pending-responses';
import { rawResponse } from './raw-response';
import { abortStalledRequests } from './stalled-requests';

/** Time a client may take for its request line and headers, in ms. */
const HEADERS_TIMEOUT_MS = 20_000;
/** How often that and the time for the whole request are looked at, in ms. */
const TIMEOUTS_INTERVAL_MS = 5000;
/** How long a connection stays open for what is no HTTP to be answered, in ms. */
const LAST_WORDS_MS = 1000;

/**
 * How long the first request of a connection is waited for when the port has just been closed, and
 * how often that is looked at, in ms. A client learns that it is connected before the service does:
 * its request is on its way, and cut off it would be lost, where a refusal (503) may be sent again.
 */
const FIRST_REQUEST_MS = 500;
const LOOK_INTERVAL_MS = 10;

/** What is said on connections of HTTP/1.1 that make room for others, or have none. */
const LAST_WORDS: FinalResponses = {
  refused: rawResponse(503, 'All connections of the service are in use.', 'Retry-After: 1\r\n'),
  late: rawResponse(408, 'The request was not received in time.'),
};

/**
 * Error boundary of a request: an error that the handler throws closes the request's connection. Thrown out of an
 * emitter's callback it would end the process.
 */
function closesOnError<Rest extends unknown[]>(
  { logger }: ServerContext,
  handle: (request: http.IncomingMessage, ...rest: Rest) => void,
): (request: http.IncomingMessage, ...rest: Rest) => void {
  return (request, ...rest) => {
    try {
      handle(request, ...rest);
    } catch (error) {
      logger.error({ error: describeUnexpected(error) }, 'request failed');
      request.socket.destroy();
    }
  };
}

/** The HTTP server: protocol limits, protocol errors, and an orderly end. */
export class HttpServer extends Transport<http.Server> {
  readonly #context: ServerContext;
  readonly #pending: PendingResponses;
  readonly #endTalks: () => Promise<void>;
  /** See `App`. */
  readonly publish: (site: Site) => void;

  /**
   * @param endTalks tells those with whom there are conversations that these are over; resolves when they know
   */
  constructor(context: ServerContext, site: Site, endTalks: () => Promise<void> = async () => {}) {
    const { config, metrics } = context;
    const { maxConnections } = config;
    const connections = new Connections(maxConnections, metrics.countConnectionEnd, LAST_WORDS);
    const pending = new PendingResponses(connections, config.maxConnectionRequests);
    const { app, listener, upgrades, publish } = createApp(context, site, { pending, connections });
    const settings = {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: CLIENT_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUTS_INTERVAL_MS,
      keepAliveTimeout: config.keepAliveTimeoutMs,
      ...expressPrototypes(app, (request) => upgrades.accepts(request)),
      requireHostHeader: false, // Node would answer it without a body; see checkHeaders
    };
    super(context, connections, {
      plain: () => http.createServer(settings),
      secure: (options) => https.createServer({ ...settings, ...options }),
    });
    this.#context = context;
    this.#pending = pending;
    this.#endTalks = endTalks;
    this.publish = publish;
    this.server.maxHeadersCount = 0; // Node would leave out those beyond; see checkHeaders
    const held: typeof listener = (request, response) => listener(request, response, true);
    this.server.on('request', closesOnError(context, listener));
    this.server.on('checkContinue', closesOnError(context, held));
    // An expectation that nobody knows may be ignored (RFC 9110, 10.1.1); Node answers 417.
    this.server.on('checkExpectation', closesOnError(context, listener));
    this.server.on('upgrade', closesOnError(context, upgrades.begin));
    this.server.on('clientError', this.#answerClientError);
  }

  get size(): number {
    return this.#pending.size;
  }

  get isLeaving(): boolean {
    return this.#pending.isLeaving;
  }

  /** From now on /ready is 503, too, and each answer the last of its connection. */
  leave(): void {
    this.#pending.leave();
  }

  async close(patienceMs: number): Promise<void> {
    await setImmediate(); // right after the event loop has accepted who waited
    // Not http.Server.close(): that cuts idle connections at once, under requests on their way.
    const closed = new Promise<void>((resolve) => {
      net.Server.prototype.close.call(this.server, () => resolve());
    });
    const stalled = abortStalledRequests(this.#pending, this.connections, patienceMs);
    const drained = this.#pending.drain(); // no request begins a conversation from here on
    await this.#endTalks();
    await drained;
    while (this.connections.isRequestDue(FIRST_REQUEST_MS)) await delay(LOOK_INTERVAL_MS);
    await setImmediate(); // what the kernel holds of kept-alive connections has been read by then
    await this.#pending.drain();
    clearInterval(stalled);
    this.server.closeIdleConnections();
    // What is left has sent no whole request, or is still reading its answer from the kernel.
    await setImmediate();
    this.connections.destroyAll();
    await closed;
    this.#context.refusals.flush();
  }

  protected override closed(socket: net.Socket): void {
    this.#pending.connectionClosed(socket);
    super.closed(socket);
  }

  /** A request that Node's HTTP parser refuses never reaches Express. */
  readonly #answerClientError = (error: NodeJS.ErrnoException, stream: Duplex): void => {
    const socket = stream as net.Socket;
    this.#context.logger.debug({ code: error.code }, 'client error');
    // Who has failed the TLS handshake, to which Node lends this event, reads no answer. And the answer
    // to an earlier request on this connection must not be overtaken by this one.
    const isReader = socket.writable && this.connections.has(socket);
    if (!isReader || error.code === 'ECONNRESET' || this.#pending.isAnswerDueOn(socket)) {
      socket.destroy();
      return;
    }
    const { status, detail } = describeClientError(error.code);
    this.#context.metrics.requests.invalid(status);
    socket.end(rawResponse(status, detail));
    // Not at once: a client that is still sending would lose the answer. But not when it pleases.
    const timer = setTimeout(() => socket.destroy(), LAST_WORDS_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}

function describeClientError(code: string | undefined): {
  status: InvalidStatus;
  detail: string;
} {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, detail: `The headers are over ${http.maxHeaderSize} bytes.` };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, detail: 'The request was not received in time.' };
    default:
      return { status: 400, detail: 'The request is not valid HTTP.' };
  }
}
