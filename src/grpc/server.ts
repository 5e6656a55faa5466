import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import { type ConnectionInjector, Server, ServerCredentials } from '@grpc/grpc-js';
import { loadSync, type PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { protoPath } from 'grpc-health-check';
import type { Logger } from 'pino';
import { below } from '../http/server';
import type { GrpcService } from '../protocols/grpc-service';
import type { Connections } from '../serving/connections';
import { type Certificate, TLS_VERSION } from '../serving/credentials/certificate';
import type { ApiKeys } from '../serving/credentials/keys';
import type { Readiness } from '../serving/readiness';
import type { Watchers } from '../serving/report';
import type { Turns } from '../serving/turns';
import { Calls } from './calls';
import { HEALTH_SERVICE, Health } from './health';
import { Receiving } from './receiving';
import { addService } from './unary';

/** Connections that wait to be accepted; the kernel cuts it to net.core.somaxconn. */
const BACKLOG = 4096;
const HANDSHAKE_TIMEOUT_MS = 20_000;
/** Calls that one connection may have open at once. */
const MOST_STREAMS = 1000;
/** Of one connection: answers that are not taken, and tables of headers, in MB. */
const SESSION_MEMORY_MB = 16;
/** How often a silent client is asked whether it is still there, and how long it may take, in ms. */
const PING_MS = 60_000;
const PONG_MS = 20_000;
/** How long clients may take to go when they have been told to, in ms. */
const GOODBYE_MS = 500;

/** Fields are called as in the protocol files, and lists, maps and numbers are always there. */
const LOADING = {
  keepCase: true,
  longs: Number,
  enums: String,
  defaults: true,
  oneofs: true,
} as const;

export interface GrpcServerOptions {
  readonly services: readonly GrpcService[];
  readonly connections: Connections;
  readonly readiness: Readiness;
  readonly watchers: Watchers;
  readonly turns: Turns;
  readonly logger: Logger;
  /** Null: everybody may ask. */
  readonly keys: ApiKeys | null;
  /** Null: without TLS. */
  readonly certificate: Certificate | null;
  readonly keepAliveTimeoutMs: number;
  readonly limits: {
    /** Bytes of a message. */
    readonly bodyLimit: number;
    readonly bodyMemory: number;
    readonly requestTimeoutMs: number;
    readonly maxQueueWaitMs: number;
    /** And watches of health. */
    readonly maxConnections: number;
  };
}

/** The gRPC server of one process: connections, health, reflection, and an orderly end. */
export class GrpcServer {
  readonly #options: GrpcServerOptions;
  readonly #server: Server;
  readonly #injector: ConnectionInjector;
  readonly #listener: net.Server;
  /** The same; null: without TLS. */
  readonly #secure: tls.Server | null;
  readonly #receiving: Receiving;
  readonly #health: Health;
  readonly #calls: Calls;

  constructor(options: GrpcServerOptions) {
    const { services, connections, readiness, watchers, certificate, limits } = options;
    const probes = new Set(probesOf(services));
    this.#options = options;
    this.#receiving = new Receiving(connections, limits);
    this.#health = new Health(
      services.map(({ name }) => name),
      readiness,
      limits.maxConnections,
    );
    this.#calls = new Calls({
      ...options,
      receiving: this.#receiving,
      watchers: { ...watchers, machineRoutes: probes },
      probes,
      refusalOf: refusalsOf(services),
    });
    this.#server = new Server({
      interceptors: [this.#calls.intercept],
      'grpc.max_receive_message_length': limits.bodyLimit,
      'grpc.max_send_message_length': -1,
      'grpc.max_concurrent_streams': MOST_STREAMS,
      'grpc.max_connection_idle_ms': options.keepAliveTimeoutMs,
      'grpc.keepalive_time_ms': PING_MS,
      'grpc.keepalive_timeout_ms': PONG_MS,
      'grpc-node.max_session_memory': SESSION_MEMORY_MB,
      'grpc.enable_channelz': 0,
    });
    const loaded = load(services);
    for (const service of services) {
      addService(this.#server, service, this.#calls, { ...options, loaded });
    }
    this.#health.addTo(this.#server);
    new ReflectionService(loaded).addToServer(this.#server); // for clients such as grpcurl
    // Connections are accepted here, where they can be counted, bounded and given a new certificate.
    this.#injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    this.#secure = certificate && this.#listenSecurely(certificate);
    this.#listener = this.#secure ?? this.#listenPlainly();
  }

  /** Calls that are not answered yet. */
  get size(): number {
    return this.#calls.size;
  }

  /** Resolves with the port in use; rejects with the system's error, EADDRINUSE and others. */
  listen(port: number, host: string | undefined): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#listener.once('error', reject);
      this.#listener.listen({ port, host, backlog: BACKLOG }, () => {
        this.#listener.off('error', reject);
        this.#listener.on('error', (error) => {
          this.#options.logger.warn({ err: error }, 'a connection could not be accepted');
        });
        resolve((this.#listener.address() as net.AddressInfo).port);
      });
    });
  }

  /** For connections from now on; those that are open keep the one that they have. */
  renew({ cert, key }: Certificate): void {
    this.#secure?.setSecureContext({ cert, key, minVersion: TLS_VERSION });
  }

  /** The process is to end: those who watch the health are told so at once; calls are still taken. */
  leave(): void {
    this.#health.tell();
  }

  /**
   * Stops accepting connections, refuses new calls, and resolves when all others are answered.
   *
   * @param patienceMs how long clients are waited for; those whose messages stand still, for a second
   */
  async close(patienceMs: number): Promise<void> {
    this.leave();
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()));
    await this.#calls.drain(patienceMs);
    const gone = new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()));
    const timeout = new AbortController();
    await Promise.race([gone, delay(GOODBYE_MS, undefined, timeout).catch(() => {})]);
    timeout.abort();
    this.#server.forceShutdown();
    this.#receiving.stop();
    this.#options.connections.destroyAll();
    await closed;
  }

  #listenPlainly(): net.Server {
    return net.createServer({ noDelay: true }, (socket) => {
      this.#opened(socket);
      if (this.#options.connections.has(socket)) this.#serve(socket);
    });
  }

  #listenSecurely({ cert, key }: Certificate): tls.Server {
    const { connections } = this.#options;
    const server = tls.createServer({
      cert,
      key,
      minVersion: TLS_VERSION,
      ALPNProtocols: ['h2'],
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      noDelay: true,
    });
    server.on('connection', (socket: net.Socket) => this.#opened(socket));
    server.on('secureConnection', (socket) => {
      connections.secured(below(socket), socket);
      socket.on('close', () => connections.closed(socket));
      if (connections.has(socket)) this.#serve(socket);
    });
    server.on('tlsClientError', ({ code }: NodeJS.ErrnoException, socket) => {
      if (code !== 'ECONNRESET') connections.cut(below(socket), 'tls_failed'); // else it has gone itself
    });
    return server;
  }

  #opened(socket: net.Socket): void {
    const { connections, turns } = this.#options;
    turns.hurry();
    connections.opened(socket, true); // it is no HTTP/1.1, in which one more could be told why
    socket.on('close', () => connections.closed(socket));
    socket.on('error', ignore);
  }

  #serve(socket: net.Socket): void {
    socket.on('error', ignore);
    this.#receiving.opened(socket);
    this.#injector.injectConnection(socket);
  }
}

/** The protocol files of all services, that of health among them: once, for they take a while. */
function load(services: readonly GrpcService[]): PackageDefinition {
  const files = [...services.map(({ protos }) => protos.file), protoPath];
  const includeDirs = services.map(({ protos }) => protos.folder);
  return loadSync(files, { ...LOADING, includeDirs });
}

/** Its 'close' follows. */
function ignore(): void {}

/** Paths of what supervisors and load balancers ask. */
function probesOf(services: readonly GrpcService[]): readonly string[] {
  const health = ['Check', 'List', 'Watch'].map((method) => `/${HEALTH_SERVICE}/${method}`);
  return [
    ...health,
    ...services.flatMap(({ name, probes }) => probes.map((method) => `/${name}/${method}`)),
  ];
}

function refusalsOf(services: readonly GrpcService[]) {
  const refusals = new Map(
    services.flatMap(({ name, analyses, refusal }) =>
      analyses.map((method): [string, typeof refusal] => [`/${name}/${method}`, refusal]),
    ),
  );
  return (path: string, remainingMs: number) => refusals.get(path)?.(remainingMs) ?? null;
}
