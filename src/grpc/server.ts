import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import { type ConnectionInjector, Server, ServerCredentials } from '@grpc/grpc-js';
import { loadSync, type PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { protoPath } from 'grpc-health-check';
import type { Logger } from 'pino';
import type { GrpcService } from '../protocols/grpc-service';
import type { Connections } from '../serving/connections';
import type { Certificate } from '../serving/credentials/certificate';
import type { ApiKeys } from '../serving/credentials/keys';
import type { Target } from '../serving/exchange';
import { Pipeline } from '../serving/pipeline';
import type { Readiness } from '../serving/readiness';
import type { Watchers } from '../serving/report';
import type { Scheduler } from '../serving/scheduler';
import {
  countConnections,
  HANDSHAKE_TIMEOUT_MS,
  listen,
  secureContextOf,
} from '../serving/sockets';
import type { AdmissionLimits } from '../serving/stage';
import { Calls } from './calls';
import { HEALTH_SERVICE, Health } from './health';
import { Receiving } from './receiving';
import { addService } from './unary';

const KEY_NEEDED = 'An API key is needed, in metadata: "authorization: Bearer KEY".';

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
  readonly scheduler: Scheduler;
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
    /** And watches of health. */
    readonly maxConnections: number;
  } & AdmissionLimits;
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
    const { services, connections, readiness, watchers, scheduler, certificate, limits } = options;
    const probes = new Set(probesOf(services));
    this.#options = options;
    this.#receiving = new Receiving(connections, limits);
    this.#health = new Health(
      services.map(({ name }) => name),
      readiness,
      limits.maxConnections,
    );
    const pipeline = new Pipeline({
      ...{ keys: options.keys, keyNeeded: KEY_NEEDED },
      scheduler,
      limits,
    });
    this.#calls = new Calls({
      ...{ readiness, pipeline, probes },
      receiving: this.#receiving,
      watchers: { ...watchers, machineRoutes: probes },
      targets: targetsOf(services),
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
      addService(this.#server, service, loaded, { calls: this.#calls, pipeline });
    }
    this.#health.addTo(this.#server);
    new ReflectionService(loaded).addToServer(this.#server); // for clients such as grpcurl
    // Connections are accepted here, where they can be counted, bounded and given a new certificate.
    this.#injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    this.#secure =
      certificate &&
      tls.createServer({
        ...secureContextOf(certificate),
        ALPNProtocols: ['h2'],
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        noDelay: true,
      });
    this.#listener = this.#secure ?? net.createServer({ noDelay: true });
    countConnections(this.#listener, this.#secure, { connections, scheduler });
    this.#listener.on('connection', (socket: net.Socket) => socket.on('error', ignore));
    this.#listener.on(this.#secure ? 'secureConnection' : 'connection', this.#serve);
  }

  /** Calls that are not answered yet. */
  get size(): number {
    return this.#calls.size;
  }

  /** Resolves with the port in use; rejects with the system's error, EADDRINUSE and others. */
  async listen(port: number, host: string | undefined): Promise<number> {
    return (await listen(this.#listener, { port, host }, this.#options.logger)).port;
  }

  /** For connections from now on; those that are open keep the one that they have. */
  renew(certificate: Certificate): void {
    this.#secure?.setSecureContext(secureContextOf(certificate));
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

  readonly #serve = (socket: net.Socket): void => {
    if (!this.#options.connections.has(socket)) return;
    socket.on('error', ignore);
    this.#receiving.opened(socket);
    this.#injector.injectConnection(socket);
  };
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

/** What runs the model, by path. */
function targetsOf(services: readonly GrpcService[]): ReadonlyMap<string, Target> {
  const targets = services.flatMap(({ name, analyses, refusal }) =>
    analyses.map((method): Target => ({ path: `/${name}/${method}`, refusal })),
  );
  return new Map(targets.map((target) => [target.path, target]));
}
