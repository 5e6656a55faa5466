import http2, { type IncomingHttpHeaders, type ServerHttp2Session } from 'node:http2';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import type { GrpcService, MessageHandler, StreamMethod } from '../protocols/grpc-service';
import { Connections } from '../serving/connections';
import { RequestPipeline } from '../serving/request-pipeline';
import type { ServerContext } from '../serving/server-context';
import { Transport } from '../serving/transport';
import { Calls } from './calls';
import { GrpcConnections } from './grpc-connections';
import { Health } from './health';
import { keepAlive } from './keep-alive';
import { createRoutes } from './routes';

const KEY_NEEDED = 'An API key is required in the metadata: "authorization: Bearer KEY".';

/** Maximum number of concurrent calls per connection. */
const MAX_CONCURRENT_STREAMS = 1000;

const HTTP2_OPTIONS: http2.ServerOptions = {
  /** Memory of one connection for responses that the client has not taken and for header tables, in MB. */
  maxSessionMemory: 16,
  maxSendHeaderBlockLength: Number.MAX_SAFE_INTEGER,
  /** Calls that one connection may have open at once. */
  settings: { maxConcurrentStreams: MAX_CONCURRENT_STREAMS },
};
/** How long clients may take to close their connections during shutdown, in ms. */
const CLOSE_MS = 500;

/** gRPC server on HTTP/2: the services, health checks, reflection and graceful shutdown. */
export class GrpcServer extends Transport {
  /** Creates sessions on the connections that `Transport` accepts. It does not listen. */
  readonly #http2 = http2.createServer(HTTP2_OPTIONS);
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #grpcConnections: GrpcConnections;
  readonly #health: Health;
  readonly #calls: Calls;
  /** Current services by name. */
  readonly #services = new Map<string, GrpcService>();
  readonly #idleMs: number;

  constructor(context: ServerContext, services: readonly GrpcService[]) {
    const { config, metrics, readiness, logger } = context;
    const { maxConnections, bodyLimit: maxMessageBytes } = config;
    const connections = new Connections(maxConnections, metrics.countConnectionEnd, null);
    super(context, connections, {
      plain: () => net.createServer({ noDelay: true }),
      secure: (options) => tls.createServer({ ...options, ALPNProtocols: ['h2'], noDelay: true }),
    });
    this.replaceServices(services);
    this.#idleMs = config.keepAliveTimeoutMs;
    const names = services.map(({ name }) => name);
    this.#health = new Health(names, readiness, maxConnections);
    const current = services.map((service) => this.#forward(service));
    const routes = createRoutes(current, this.#health.handlers);
    const probes = [...routes.values()].filter(({ isPublic }) => isPublic).map(({ path }) => path);
    const pipeline = new RequestPipeline(context, KEY_NEEDED, new Set(probes));
    this.#grpcConnections = new GrpcConnections(connections, config);
    this.#calls = new Calls({
      readiness,
      pipeline,
      connections: this.#grpcConnections,
      logger,
      routes,
      maxMessageBytes,
    });
    this.server.on('connection', (socket: net.Socket) => socket.on('error', ignore));
    this.server.on(this.secure ? 'secureConnection' : 'connection', this.#serve);
  }

  /** Replaces services by name, without effect on calls in progress. */
  replaceServices(services: readonly GrpcService[]): void {
    for (const service of services) this.#services.set(service.name, service);
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Number of open request streams. */
  get streams(): number {
    return this.#calls.streams;
  }

  leave(): void {
    this.#health.notify();
  }

  async close(timeoutMs: number): Promise<void> {
    this.leave();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    await this.#calls.drain(timeoutMs);
    for (const session of this.#sessions) session.close();
    const timeout = new AbortController();
    await Promise.race([closed, delay(CLOSE_MS, undefined, timeout).catch(() => {})]);
    timeout.abort();
    this.#grpcConnections.stop();
    this.connections.destroyAll();
    await closed;
  }

  /** Service whose methods are those of the current service with the same name. */
  #forward(service: GrpcService): GrpcService {
    const current = (): GrpcService => this.#services.get(service.name) ?? service;
    const methods = Object.keys(service.methods).map((name) => {
      const handle: MessageHandler = (message, call) =>
        (current().methods[name] as MessageHandler)(message, call);
      return [name, handle];
    });
    const streams = Object.entries(service.streams).map(([name, stream]) => {
      const open: StreamMethod['open'] = (call) =>
        (current().streams[name] as StreamMethod).open(call);
      return [name, { ...stream, open }];
    });
    return {
      ...service,
      methods: Object.fromEntries(methods),
      streams: Object.fromEntries(streams),
      admissionError: (timeoutMs) => current().admissionError(timeoutMs),
    };
  }

  readonly #serve = (socket: net.Socket): void => {
    if (!this.connections.has(socket)) return;
    socket.on('error', ignore);
    const connection = this.#grpcConnections.opened(socket);
    this.#http2.once('session', (session: ServerHttp2Session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
      keepAlive(session, this.#idleMs);
      session.on('stream', (stream, headers: IncomingHttpHeaders) => {
        this.#calls.begin(stream, headers, connection);
      });
    });
    this.#http2.emit('connection', socket); // emits 'session' at once
    this.#http2.removeAllListeners('session');
  };
}

/** Ignores an error that a 'close' event follows. */
function ignore(): void {}
