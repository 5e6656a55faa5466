import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';
import { type ConnectionInjector, Server, ServerCredentials } from '@grpc/grpc-js';
import { loadSync, type PackageDefinition } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { protoPath } from 'grpc-health-check';
import type { GrpcService, Method, StreamMethod } from '../protocols/grpc-service';
import { Connections } from '../serving/connections';
import { Pipeline } from '../serving/request-pipeline';
import type { ServerContext } from '../serving/server-context';
import { Transport } from '../serving/transport';
import { Calls } from './calls';
import type { GrpcModelRoute } from './exchange';
import { HEALTH_SERVICE, Health } from './health';
import { Receiving } from './receiving';

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

/** The gRPC server of one process: connections, health, reflection, and an orderly end. */
export class GrpcServer extends Transport {
  readonly #server: Server;
  readonly #injector: ConnectionInjector;
  readonly #receiving: Receiving;
  readonly #health: Health;
  readonly #calls: Calls;
  /** As they are now, by name. */
  readonly #services = new Map<string, GrpcService>();

  constructor(context: ServerContext, given: readonly GrpcService[]) {
    const { config, metrics, readiness, logger } = context;
    const { maxConnections } = config;
    const connections = new Connections(maxConnections, metrics.countConnectionEnd, null);
    // Connections are accepted here, where they can be counted, bounded and given a new certificate.
    super(context, connections, {
      plain: () => net.createServer({ noDelay: true }),
      secure: (options) => tls.createServer({ ...options, ALPNProtocols: ['h2'], noDelay: true }),
    });
    this.show(given);
    const services = given.map((service) => this.#followed(service));
    const targets = targetsOf(services);
    const probes = [...targets.keys()].filter((path) => targets.get(path) === null);
    const pipeline = new Pipeline(context, KEY_NEEDED, new Set(probes));
    this.#receiving = new Receiving(connections, config);
    // As many may watch the health as may be connected.
    const names = services.map(({ name }) => name);
    this.#health = new Health(names, readiness, config.maxConnections);
    const receiving = this.#receiving;
    this.#calls = new Calls({ readiness, pipeline, targets, receiving, logger });
    this.#server = new Server({
      interceptors: [this.#calls.intercept],
      'grpc.max_receive_message_length': config.bodyLimit,
      'grpc.max_send_message_length': -1,
      'grpc.max_concurrent_streams': MOST_STREAMS,
      'grpc.max_connection_idle_ms': config.keepAliveTimeoutMs,
      'grpc.keepalive_time_ms': PING_MS,
      'grpc.keepalive_timeout_ms': PONG_MS,
      'grpc-node.max_session_memory': SESSION_MEMORY_MB,
      'grpc.enable_channelz': 0,
    });
    const loaded = load(services);
    for (const service of services) this.#calls.serve(service, this.#server, loaded);
    this.#health.addTo(this.#server);
    new ReflectionService(loaded).addToServer(this.#server); // for clients such as grpcurl
    this.#injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    this.server.on('connection', (socket: net.Socket) => socket.on('error', ignore));
    this.server.on(this.secure ? 'secureConnection' : 'connection', this.#serve);
  }

  /** Services of the same names take the place of these, under calls that are on their way. */
  show(services: readonly GrpcService[]): void {
    for (const service of services) this.#services.set(service.name, service);
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Open streams of which each message is a request. */
  get streams(): number {
    return this.#calls.streams;
  }

  /** Those who watch the health are told so at once. */
  leave(): void {
    this.#health.tell();
  }

  async close(patienceMs: number): Promise<void> {
    this.leave();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    await this.#calls.drain(patienceMs);
    const gone = new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()));
    const timeout = new AbortController();
    // Also until the connections are closed: from Node.js 24 on, http2 closes sessions of which the last bytes are unsent.
    const left = Promise.all([gone, closed]);
    await Promise.race([left, delay(GOODBYE_MS, undefined, timeout).catch(() => {})]);
    timeout.abort();
    this.#server.forceShutdown();
    this.#receiving.stop();
    this.connections.destroyAll();
    await closed;
  }

  /** Whose methods are those of the service that has its name when it is asked. */
  #followed(service: GrpcService): GrpcService {
    const now = (): GrpcService => this.#services.get(service.name) ?? service;
    const methods = Object.keys(service.methods).map((name) => {
      const method: Method = (message, call) => (now().methods[name] as Method)(message, call);
      return [name, method];
    });
    const streams = Object.entries(service.streams).map(([name, stream]) => {
      const open: StreamMethod['open'] = (call) => (now().streams[name] as StreamMethod).open(call);
      return [name, { ...stream, open }];
    });
    return {
      ...service,
      methods: Object.fromEntries(methods),
      streams: Object.fromEntries(streams),
      refusal: (timeoutMs) => now().refusal(timeoutMs),
    };
  }

  readonly #serve = (socket: net.Socket): void => {
    if (!this.connections.has(socket)) return;
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

/** See `CallsOptions`. */
function targetsOf(services: readonly GrpcService[]): ReadonlyMap<string, GrpcModelRoute | null> {
  const targets = new Map<string, GrpcModelRoute | null>();
  for (const method of ['Check', 'List', 'Watch'])
    targets.set(`/${HEALTH_SERVICE}/${method}`, null);
  for (const { name, probes, analyses, streams, management, refusal } of services) {
    for (const method of probes) targets.set(`/${name}/${method}`, null);
    for (const path of analyses.map((method) => `/${name}/${method}`)) {
      targets.set(path, { path, refusal });
    }
    for (const path of Object.keys(streams).map((method) => `/${name}/${method}`)) {
      targets.set(path, { path, refusal: () => null, carriesRequests: true });
    }
    for (const path of management.map((method) => `/${name}/${method}`)) {
      targets.set(path, { path, refusal: () => null, isManagement: true });
    }
  }
  return targets;
}
