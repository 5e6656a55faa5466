import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { Response } from 'express';
import { describeUnexpected } from '../native/unexpected-error';
import { Connections, type FinalResponses, PendingResponses } from '../serving/connections';
import type { ErrorCode } from '../serving/errors';
import type { InvalidStatus } from '../serving/metrics/request-metrics';
import type { ServerContext } from '../serving/server-context';
import { CLIENT_TIMEOUT_MS } from '../serving/timeouts';
import { Transport } from '../serving/transport';
import { createApp, type Site } from './app';
import { expressPrototypes } from './express-prototypes';
import { rawResponse } from './raw-response';
import { abortStalledRequests } from './stalled-requests';

/** Time a client may take for its request line and headers, in ms. */
const HEADERS_TIMEOUT_MS = 20_000;
/** Interval of the timeout checks, in ms. */
const TIMEOUTS_INTERVAL_MS = 5000;
/** Time for a client to read the error response to invalid HTTP, in ms. */
const CLOSE_DELAY_MS = 1000;

/**
 * Time to wait for the first request of new connections after the port was closed, and check interval, in ms. A client
 * learns of its connection before the server does: its request is in transit. Closing would lose it; a 503 can be retried.
 */
const FIRST_REQUEST_MS = 500;
const CHECK_INTERVAL_MS = 10;

/** Responses on connections that are closed for others, or not accepted. */
const FINAL_RESPONSES: FinalResponses = {
  refused: rawResponse(
    'CONNECTIONS_FULL',
    'All connections of the service are in use.',
    'Retry-After: 1\r\n',
  ),
  late: rawResponse('RECEIVE_TIMEOUT', 'The request was not received in time.'),
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

/** HTTP server of one port: protocol limits, protocol errors and graceful shutdown. */
export class HttpServer extends Transport<http.Server> {
  readonly #context: ServerContext;
  readonly #pending: PendingResponses<Response>;
  readonly #endSessions: () => Promise<void>;
  /** See `App.publish`. */
  readonly publish: (site: Site) => void;

  /** @param endSessions closes all streaming sessions; resolves when their clients were notified */
  constructor(
    context: ServerContext,
    site: Site,
    endSessions: () => Promise<void> = async () => {},
  ) {
    const { config, metrics } = context;
    const { maxConnections } = config;
    const connections = new Connections(
      maxConnections,
      metrics.countConnectionEnd,
      FINAL_RESPONSES,
    );
    const pending = new PendingResponses<Response>(connections, config.maxConnectionRequests);
    const { app, listener, upgrades, publish } = createApp(context, site, { pending, connections });
    const settings = {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: CLIENT_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUTS_INTERVAL_MS,
      keepAliveTimeout: config.keepAliveTimeoutMs,
      ...expressPrototypes(app, (request) => upgrades.accepts(request)),
      requireHostHeader: false, // checked by checkHeaders, with a response body
    };
    super(context, connections, {
      plain: () => http.createServer(settings),
      secure: (options) => https.createServer({ ...settings, ...options }),
    });
    this.#context = context;
    this.#pending = pending;
    this.#endSessions = endSessions;
    this.publish = publish;
    this.server.maxHeadersCount = 0; // checked by checkHeaders; Node would drop headers
    const expectsContinue: typeof listener = (request, response) =>
      listener(request, response, true);
    this.server.on('request', closesOnError(context, listener));
    this.server.on('checkContinue', closesOnError(context, expectsContinue));
    // Unknown expectations may be ignored (RFC 9110, 10.1.1); Node would respond with 417.
    this.server.on('checkExpectation', closesOnError(context, listener));
    this.server.on('upgrade', closesOnError(context, upgrades.begin));
    this.server.on('clientError', this.#respondToClientError);
  }

  get size(): number {
    return this.#pending.size;
  }

  get isLeaving(): boolean {
    return this.#pending.isLeaving;
  }

  /** Starts the shutdown: /ready responds 503, and each connection is closed after its next response. */
  leave(): void {
    this.#pending.leave();
  }

  async close(timeoutMs: number): Promise<void> {
    await setImmediate(); // accepts connections that the kernel has queued
    // http.Server.close() would close idle connections at once, with requests in transit.
    const closed = new Promise<void>((resolve) => {
      net.Server.prototype.close.call(this.server, () => resolve());
    });
    const stalled = abortStalledRequests(this.#pending, this.connections, timeoutMs);
    const drained = this.#pending.drain(); // no new sessions from here on
    await this.#endSessions();
    await drained;
    while (this.connections.isRequestDue(FIRST_REQUEST_MS)) await delay(CHECK_INTERVAL_MS);
    await setImmediate(); // reads requests that the kernel holds for kept-alive connections
    await this.#pending.drain();
    clearInterval(stalled);
    this.server.closeIdleConnections();
    // The remaining connections have no complete request, or their response is in the kernel.
    await setImmediate();
    this.connections.destroyAll();
    await closed;
    this.#context.rejectionLog.flush();
  }

  protected override closed(socket: net.Socket): void {
    this.#pending.connectionClosed(socket);
    super.closed(socket);
  }

  /** Responds to requests that Node's HTTP parser rejects; they do not reach Express. */
  readonly #respondToClientError = (error: NodeJS.ErrnoException, stream: Duplex): void => {
    const socket = stream as net.Socket;
    this.#context.logger.debug({ code: error.code }, 'client error');
    // The event is also emitted for failed TLS handshakes, which need no response. The response must not overtake the
    // response to an earlier request of the connection.
    const canRespond = socket.writable && this.connections.has(socket);
    if (!canRespond || error.code === 'ECONNRESET' || this.#pending.hasCompleteRequest(socket)) {
      socket.destroy();
      return;
    }
    const { code, status, detail } = describeClientError(error.code);
    this.#context.metrics.requests.invalid(status);
    socket.end(rawResponse(code, detail));
    // Closed after a delay: a client that is still sending would lose the response.
    const timer = setTimeout(() => socket.destroy(), CLOSE_DELAY_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}

function describeClientError(code: string | undefined): {
  code: ErrorCode;
  status: InvalidStatus;
  detail: string;
} {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        code: 'HEADERS_TOO_LARGE',
        status: 431,
        detail: `The headers exceed ${http.maxHeaderSize} bytes.`,
      };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        code: 'RECEIVE_TIMEOUT',
        status: 408,
        detail: 'The request was not received in time.',
      };
    default:
      return { code: 'HTTP_INVALID', status: 400, detail: 'The request is not valid HTTP.' };
  }
}
