import type { AddressInfo } from 'node:net';
import type { GrpcServer } from '../../grpc/server';
import { AnswersDue } from '../../http/answers-due';
import { type App, createApp } from '../../http/app';
import { HttpServer, LAST_WORDS } from '../../http/server';
import type { StaticFile } from '../../http/static-files';
import { libtorchVersion } from '../../native/engine';
import type { describeApi } from '../../protocols/openapi/document';
import { isPublicPath } from '../../serving/authentication';
import { ConnectionLimit } from '../../serving/connection-limit';
import { Connections } from '../../serving/connections';
import type { Certificate } from '../../serving/credentials/certificate';
import type { Credentials } from '../../serving/credentials/credentials';
import type { Log } from '../../serving/log';
import type { ServedModel } from '../../serving/metrics/engine-metrics';
import { createMetrics } from '../../serving/metrics/metrics';
import { patienceOf } from '../../serving/patience';
import type { Gather } from '../../serving/peers';
import type { Tracer } from '../../serving/tracing/tracer';
import type { Config } from '../../settings/config';
import { dtypeOf, type Service } from './service';

export interface Parts {
  readonly service: Service;
  readonly pages: readonly StaticFile[];
  /** See `AppOptions`. */
  readonly describeProblem: () => string | null;
  readonly tracer: Tracer | null;
  readonly describeApi: typeof describeApi;
  readonly credentials: Credentials;
  readonly gather: Gather;
  /** Of the HTTP port, for all event loops. */
  readonly connectionLimit: ConnectionLimit;
}

/** A port that cannot be had; the message says which setting names it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** What one event loop listens with: HTTP and, where it has a port, gRPC. */
export class Servers {
  readonly #config: Config;
  readonly #http: HttpServer;
  /** Null: GRPC_PORT is not set. */
  readonly #grpc: GrpcServer | null;

  constructor(config: Config, parts: Parts, log: Log) {
    this.#config = config;
    const { service, credentials } = parts;
    const metrics = createMetrics({
      packageVersion: service.info.version,
      model: service.monitor && {
        engine: service.monitor,
        served: describeServed(config, service),
      },
      requestsInFlight: () => due.size + (this.#grpc?.size ?? 0),
      connections: () => connections.size + grpcConnections.size,
      credentials,
      gather: parts.gather,
    });
    const { countConnectionEnd: ended } = metrics;
    const connections = new Connections(parts.connectionLimit, ended, LAST_WORDS);
    const grpcLimit = new ConnectionLimit(config.maxConnections);
    const grpcConnections = new Connections(grpcLimit, ended, null);
    const due = new AnswersDue(connections, config.maxConnectionRequests);
    const app = createApp({
      ...describeApp(config, parts),
      due,
      connections,
      metrics,
      logger: log.logger,
    });
    const common = {
      logger: log.logger,
      keepAliveTimeoutMs: config.keepAliveTimeoutMs,
      certificate: credentials.certificate,
    };
    this.#http = new HttpServer({
      ...app,
      ...common,
      due,
      connections,
      metrics: metrics.requests,
    });
    this.#grpc =
      config.grpcPort === null
        ? null
        : createGrpcServer(config, parts, { ...app, ...common, connections: grpcConnections });
    credentials.onCertificate = (certificate) => this.#renew(certificate);
  }

  /** Where it listens then, for the log. @throws ListenError */
  async listen(): Promise<AddressInfo & { readonly grpcPort?: number }> {
    const { host, port, grpcPort } = this.#config;
    const address = await named('PORT', this.#config, () => this.#http.listen({ port, host }));
    const grpc = this.#grpc;
    if (!grpc || grpcPort === null) return address;
    const listen = (): Promise<number> => grpc.listen(grpcPort, host);
    try {
      return { ...address, grpcPort: await named('GRPC_PORT', this.#config, listen) };
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Beside another event loop that has opened the port. @param descriptor for this one alone */
  async listenOn(descriptor: number): Promise<void> {
    await this.#http.listen({ fd: descriptor });
  }

  /** Of the socket on which HTTP is served. */
  get descriptor(): number {
    return this.#http.descriptor;
  }

  /** From now on it wants to be left; requests are still taken. */
  leave(): void {
    this.#http.leave();
    this.#grpc?.leave();
  }

  /** See `HttpServer.close`. */
  async close(): Promise<void> {
    const { shutdownTimeoutMs, shutdownDelayMs } = this.#config;
    const patienceMs = patienceOf(shutdownTimeoutMs - shutdownDelayMs);
    await Promise.all([this.#http.close(patienceMs), this.#grpc?.close(patienceMs)]);
  }

  #renew(certificate: Certificate): void {
    this.#http.renew(certificate);
    this.#grpc?.renew(certificate);
  }
}

function describeApp(config: Config, { service, pages, tracer, ...parts }: Parts) {
  const { keys } = parts.credentials;
  const probes = service.protocols.flatMap((protocol) => protocol.probes);
  const paths = pages.map(({ path }) => path);
  const isPublic = keys && isPublicPath(paths, probes, config.access);
  return {
    protocols: service.protocols,
    info: service.info,
    describeApi: () => parts.describeApi(service, isPublic),
    describeProblem: parts.describeProblem,
    tracer,
    limits: limitsOf(config),
    access: {
      keys,
      metricsNeedKey: config.access.metricsNeedKey,
      corsOrigins: config.access.corsOrigins,
    },
    staticFiles: pages,
  };
}

function limitsOf(config: Config) {
  const { maxQueueWaitMs } = config.scheduling;
  return { ...config, maxQueueWaitMs, bodyMemory: shareOf(config, config.bodyMemory) };
}

/** Of what all event loops have together. */
function shareOf({ eventLoops }: Config, amount: number): number {
  return Math.ceil(amount / eventLoops);
}

type GrpcSurroundings = Pick<App, 'readiness' | 'watchers' | 'scheduler'> &
  Pick<
    ConstructorParameters<typeof GrpcServer>[0],
    'logger' | 'keepAliveTimeoutMs' | 'certificate' | 'connections'
  >;

/** Its packages are loaded here, where somebody wants it: they take a while. */
function createGrpcServer(
  config: Config,
  { service, credentials }: Parts,
  surroundings: GrpcSurroundings,
): GrpcServer {
  const { GrpcServer } = require('../../grpc/server') as typeof import('../../grpc/server');
  return new GrpcServer({
    ...surroundings,
    services: service.protocols.flatMap(({ grpc }) => (grpc ? [grpc()] : [])),
    keys: credentials.keys,
    limits: limitsOf(config),
  });
}

function describeServed({ scheduling }: Config, { task, info }: Service): ServedModel {
  return {
    name: info.model.name,
    version: info.model.version ?? '',
    dtype: dtypeOf(task, scheduling),
    packageVersion: info.version,
    libtorchVersion: libtorchVersion(),
    tokenizes: task.takes === 'texts',
  };
}

async function named<Address>(
  setting: 'PORT' | 'GRPC_PORT',
  config: Config,
  listen: () => Promise<Address>,
): Promise<Address> {
  try {
    return await listen();
  } catch (error) {
    throw new ListenError(describe(error as NodeJS.ErrnoException, setting, config));
  }
}

function describe(
  error: NodeJS.ErrnoException,
  setting: 'PORT' | 'GRPC_PORT',
  { host, port, grpcPort }: Config,
): string {
  const number = setting === 'PORT' ? port : grpcPort;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${setting}: ${number} is in use on ${host ?? 'this machine'}`;
    case 'EACCES':
      return `${setting}: ${number} is not open to this user`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST: "${host}" is no address of this machine`;
    default:
      return error.message;
  }
}
