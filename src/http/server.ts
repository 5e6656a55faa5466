import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type tls from 'node:tls';
import type { Express, Response } from 'express';
import type { Logger } from 'pino';
import type { Connections } from '../serving/connections';
import { type Certificate, TLS_VERSION } from '../serving/credentials/certificate';
import type { InFlight } from '../serving/in-flight';
import type { InvalidStatus, RequestMetrics } from '../serving/metrics/request-metrics';
import type { RefusalLog } from '../serving/refusal-log';
import type { Turns } from '../serving/turns';
import type { Listener } from './front-door';
import { rawAnswer } from './raw-answer';
import { StalledRequests } from './stalled-requests';

/**
 * Time a client may take for its request line and headers, before them for its TLS handshake, and for
 * the whole request, in ms.
 */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 60_000;
/** How often those two are looked at, in ms. */
const TIMEOUTS_INTERVAL_MS = 5000;
/** How long a connection stays open for what is no HTTP to be answered, in ms. */
const LAST_WORDS_MS = 1000;
/** Connections that wait to be accepted; the kernel cuts it to net.core.somaxconn. */
const BACKLOG = 4096;

/**
 * How long the first request of a connection is waited for when the port has just been closed, and
 * how often that is looked at, in ms. A client learns that it is connected before the service does:
 * its request is on its way, and cut off it would be lost, where a refusal (503) may be sent again.
 */
const FIRST_REQUEST_MS = 500;
const LOOK_INTERVAL_MS = 10;

export interface ServerOptions {
  readonly app: Express;
  /** What stands before the app. */
  readonly listener: Listener;
  /** Answers a request whose body is not waited for any longer. */
  readonly giveUp: (response: Response) => void;
  readonly turns: Turns;
  readonly refusals: RefusalLog;
  readonly inFlight: InFlight;
  readonly connections: Connections;
  readonly logger: Logger;
  readonly metrics: RequestMetrics;
  /**
   * How long an idle connection stays open, in ms. By default longer than the 60 s of the usual load
   * balancers: the side that closes first must be theirs, or a request can meet a connection that is
   * closing.
   */
  readonly keepAliveTimeoutMs: number;
  /** Null: plain HTTP. */
  readonly certificate: Certificate | null;
}

export interface Address {
  readonly port: number;
  /** Undefined: all interfaces. */
  readonly host: string | undefined;
}

/** The HTTP server of one event loop: protocol limits, protocol errors, and an orderly end. */
export class HttpServer {
  readonly #server: http.Server;
  /** The same; null: plain HTTP. */
  readonly #secure: https.Server | null;
  readonly #connections: Connections;
  readonly #inFlight: InFlight;
  readonly #logger: Logger;
  readonly #refusals: RefusalLog;
  readonly #giveUp: ServerOptions['giveUp'];
  readonly #metrics: RequestMetrics;

  constructor(options: ServerOptions) {
    const { app, listener, turns, refusals, inFlight, connections, logger, metrics } = options;
    this.#refusals = refusals;
    this.#giveUp = options.giveUp;
    this.#connections = connections;
    this.#inFlight = inFlight;
    this.#logger = logger;
    this.#metrics = metrics;
    const { keepAliveTimeoutMs, certificate } = options;
    const settings = {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUTS_INTERVAL_MS,
      keepAliveTimeout: keepAliveTimeoutMs,
      ...prototypesOf(app),
      requireHostHeader: false, // Node would answer it without a body; see checkHeaders
    };
    this.#secure =
      certificate &&
      https.createServer({
        ...settings,
        ...secureContextOf(certificate),
        handshakeTimeout: HEADERS_TIMEOUT_MS,
      });
    this.#server = this.#secure ?? http.createServer(settings);
    this.#server.maxHeadersCount = 0; // Node would leave out those beyond; see checkHeaders
    this.#server.on('request', (request, response) => listener(request, response));
    this.#server.on('checkContinue', (request, response) => listener(request, response, true));
    // An expectation that nobody knows may be ignored (RFC 9110, 10.1.1); Node answers 417.
    this.#server.on('checkExpectation', (request, response) => listener(request, response));
    this.#server.on('connection', (socket) => {
      turns.hurry();
      connections.opened(socket, this.#secure !== null);
      socket.on('close', () => this.#closed(socket));
    });
    this.#secure?.prependListener('secureConnection', (socket) => {
      connections.secured(below(socket), socket);
      socket.on('close', () => this.#closed(socket));
    });
    this.#secure?.on('tlsClientError', ({ code }: NodeJS.ErrnoException, socket) => {
      if (code !== 'ECONNRESET') connections.cut(below(socket), 'tls_failed'); // else it has gone itself
    });
    this.#server.on('clientError', this.#answerClientError);
  }

  /**
   * Resolves with the address in use; rejects with the system's error, EADDRINUSE and others.
   *
   * @param at an address, or the descriptor of a socket that listens already
   */
  listen(at: Address | { readonly fd: number }): Promise<net.AddressInfo> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ ...at, backlog: BACKLOG }, () => {
        this.#server.off('error', reject);
        // A connection that could not be accepted: no descriptor is left (EMFILE). It is no reason to end.
        this.#server.on('error', (error) => {
          this.#logger.warn({ err: error }, 'a connection could not be accepted');
        });
        resolve(this.#server.address() as net.AddressInfo);
      });
    });
  }

  /** Of the socket that listens. Node has no public name for it. */
  get descriptor(): number {
    const { _handle } = this.#server as unknown as { readonly _handle: { readonly fd: number } };
    return _handle.fd;
  }

  /** For connections from now on; those that are open keep the one that they have. */
  renew(certificate: Certificate): void {
    this.#secure?.setSecureContext(secureContextOf(certificate));
  }

  /** From now on /ready is 503 and each answer the last of its connection; requests are still taken. */
  leave(): void {
    this.#inFlight.leave();
  }

  /**
   * Stops accepting connections, refuses new requests on open ones, and resolves when every
   * request that came before is answered and every connection is closed.
   *
   * @param patienceMs how long clients are waited for; those whose bodies stand still, for a second
   */
  async close(patienceMs: number): Promise<void> {
    await setImmediate(); // right after the event loop has accepted who waited
    // Not http.Server.close(): that cuts idle connections at once, under requests on their way.
    const closed = new Promise<void>((resolve) => {
      net.Server.prototype.close.call(this.#server, () => resolve());
    });
    const stalled = new StalledRequests(
      { inFlight: this.#inFlight, connections: this.#connections, giveUp: this.#giveUp },
      patienceMs,
    );
    await this.#inFlight.drain();
    while (this.#connections.isRequestDue(FIRST_REQUEST_MS)) await delay(LOOK_INTERVAL_MS);
    await setImmediate(); // what the kernel holds of kept-alive connections has been read by then
    await this.#inFlight.drain();
    stalled.stop();
    this.#server.closeIdleConnections();
    // What is left has sent no whole request, or is still reading its answer from the kernel.
    await setImmediate();
    this.#connections.destroyAll();
    await closed;
    this.#refusals.flush();
  }

  #closed(socket: net.Socket): void {
    this.#inFlight.connectionClosed(socket);
    this.#connections.closed(socket);
  }

  /** A request that Node's HTTP parser refuses never reaches Express. */
  readonly #answerClientError = (error: NodeJS.ErrnoException, stream: Duplex): void => {
    const socket = stream as net.Socket;
    this.#logger.debug({ code: error.code }, 'client error');
    // Who has failed the TLS handshake, to which Node lends this event, reads no answer. And the answer
    // to an earlier request on this connection must not be overtaken by this one.
    const isReader = socket.writable && this.#connections.has(socket);
    if (!isReader || error.code === 'ECONNRESET' || this.#inFlight.isAnswerDueOn(socket)) {
      socket.destroy();
      return;
    }
    const { status, detail } = describeClientError(error.code);
    this.#metrics.invalid(status);
    socket.end(rawAnswer(status, detail));
    // Not at once: a client that is still sending would lose the answer. But not when it pleases.
    const timer = setTimeout(() => socket.destroy(), LAST_WORDS_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}

function secureContextOf({ cert, key }: Certificate): tls.SecureContextOptions {
  return { cert, key, minVersion: TLS_VERSION };
}

/** The TCP connection under a TLS one, for which Node has no public name. */
export function below(socket: tls.TLSSocket): net.Socket {
  return (socket as tls.TLSSocket & { readonly _parent: net.Socket })._parent;
}

/**
 * Classes whose instances have the prototypes that Express wants from birth. Otherwise it changes
 * the prototype of every request and response (express, lib/application.js, `app.handle`), and V8
 * cannot cache property accesses on such objects: that cost a fifth of the event loop's time.
 */
function prototypesOf(
  app: Express,
): Pick<http.ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class IncomingMessage extends http.IncomingMessage {}
  class ServerResponse<
    Request extends http.IncomingMessage = http.IncomingMessage,
  > extends http.ServerResponse<Request> {}
  const prototypes = app as unknown as { request: object; response: object };
  Object.setPrototypeOf(IncomingMessage.prototype, prototypes.request);
  Object.setPrototypeOf(ServerResponse.prototype, prototypes.response);
  prototypes.request = IncomingMessage.prototype;
  prototypes.response = ServerResponse.prototype;
  return { IncomingMessage, ServerResponse };
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
