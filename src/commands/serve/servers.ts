import type { AddressInfo } from 'node:net';
import type { GrpcServer } from '../../grpc/server';
import type { Site } from '../../http/app';
import { HttpServer } from '../../http/server';
import type { describeApi } from '../../protocols/openapi/document';
import type { Credentials } from '../../serving/credentials/credentials';
import { EventLoopScheduler } from '../../serving/event-loop-scheduler';
import type { Log } from '../../serving/log';
import { createMetrics, type Metrics } from '../../serving/metrics/metrics';
import { readinessOf } from '../../serving/readiness';
import { RejectionLog } from '../../serving/rejection-log';
import type { ServerContext } from '../../serving/server-context';
import { drainTimeout } from '../../serving/timeouts';
import type { Tracer } from '../../serving/tracing/tracer';
import type { Transport } from '../../serving/transport';
import type { Config } from '../../settings/config';
import type { Streams } from '../../streaming/streams';
import { type Pages, pagesBelow } from './pages';
import type { Service, ServiceSite } from './service';

/** What is spoken on a port. */
type Speaking = Pick<ServiceSite, 'mounts' | 'described' | 'aboutOf'>;

export interface ServerParts {
  readonly service: Service;
  /** What is served on MANAGEMENT_PORT; null: nothing. */
  readonly management: Speaking | null;
  readonly pages: Pages;
  readonly tracer: Tracer | null;
  readonly describeApi: typeof describeApi;
  readonly credentials: Credentials;
  readonly streams: Streams;
}

/** A port that cannot be had; the message says which setting names it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** What the process listens with: HTTP and, where it has a port, gRPC. */
export class Servers {
  readonly #config: Config;
  readonly #service: Service;
  readonly #http: HttpServer;
  /** Null: GRPC_PORT is not set. */
  readonly #grpc: GrpcServer | null;
  /** Null: MANAGEMENT_PORT is not set, or there is nothing to manage. */
  readonly #management: HttpServer | null;
  readonly #all: readonly Transport[];
  readonly #metrics: Metrics;
  readonly #siteOf: () => Site;

  constructor(config: Config, parts: ServerParts, { logger }: Log) {
    const { service, management, credentials, tracer, pages } = parts;
    const { streams } = parts;
    const metrics = createMetrics({
      packageVersion: service.site.described.info.version,
      loaded: service.loaded,
      loadFailed: service.loadFailed,
      models: service.models,
      additional: service.families ?? (() => []),
      requestsInFlight: () => sum(this.#all.map(({ size }) => size)),
      connections: () => sum(this.#all.map(({ connections }) => connections.size)),
      grpcStreams: config.grpcPort === null ? null : () => this.#grpc?.streams ?? 0,
      credentials,
      signalStreams: streams.metrics,
    });
    const context: ServerContext = {
      config,
      credentials,
      logger,
      metrics,
      tracer,
      readiness: readinessOf(() => this.#http.isLeaving, service.problem),
      rejectionLog: new RejectionLog(logger),
      scheduler: new EventLoopScheduler(),
      namesOf: service.namesOf,
    };
    this.#config = config;
    this.#service = service;
    this.#metrics = metrics;
    const siteOf = ({ mounts, described, aboutOf }: Speaking, files: Site['pages']): Site => ({
      mounts,
      resourceOf: aboutOf,
      pages: files,
      describeApi: (isPublic) => parts.describeApi(described, isPublic),
    });
    this.#siteOf = () => {
      const { site } = service;
      return siteOf(
        site,
        site.pages.flatMap(({ name, at }) => pagesBelow(pages, name, at)),
      );
    };
    this.#http = new HttpServer(context, this.#siteOf(), () => streams.close());
    this.#grpc = config.grpcPort === null ? null : createGrpcServer(context, service);
    const isManaged = management !== null && config.managementPort !== null;
    this.#management = isManaged ? new HttpServer(context, siteOf(management, [])) : null;
    metrics.observeModels();
    this.#all = [this.#http, this.#grpc, this.#management].filter((one) => one !== null);
    credentials.onCertificate = (certificate) => {
      for (const transport of this.#all) transport.renew(certificate);
    };
  }

  /** What the service serves has changed. */
  show(): void {
    this.#http.publish(this.#siteOf());
    this.#grpc?.replaceServices(this.#service.grpc());
    this.#metrics.observeModels();
  }

  /** Where it listens then, for the log. @throws ListenError */
  async listen(): Promise<
    AddressInfo & { readonly grpcPort?: number; readonly managementPort?: number }
  > {
    const { host, port, grpcPort, managementHost, managementPort } = this.#config;
    const on = { hostSetting: 'HOST', host } as const;
    const address = await listenOn(this.#http, { setting: 'PORT', port, ...on });
    try {
      const grpc = await listenOn(this.#grpc, { setting: 'GRPC_PORT', port: grpcPort, ...on });
      const management = await listenOn(this.#management, {
        setting: 'MANAGEMENT_PORT',
        port: managementPort,
        hostSetting: 'MANAGEMENT_HOST',
        host: managementHost,
      });
      return {
        ...address,
        ...(grpc && { grpcPort: grpc.port }),
        ...(management && { managementPort: management.port }),
      };
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** See `Transport.leave`. */
  leave(): void {
    for (const transport of this.#all) transport.leave();
  }

  /** See `Transport.close`. */
  async close(): Promise<void> {
    const { shutdownTimeoutMs, shutdownDelayMs } = this.#config;
    const patienceMs = drainTimeout(shutdownTimeoutMs - shutdownDelayMs);
    await Promise.all(this.#all.map((transport) => transport.close(patienceMs)));
  }
}

/** Its packages are loaded here, where somebody wants it: they take a while. */
function createGrpcServer(context: ServerContext, service: Service): GrpcServer {
  const { GrpcServer } = require('../../grpc/server') as typeof import('../../grpc/server');
  return new GrpcServer(context, service.grpc());
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Where a transport is to listen, and which settings say so. */
interface ListenAddress {
  readonly setting: 'PORT' | 'GRPC_PORT' | 'MANAGEMENT_PORT';
  readonly port: number | null;
  readonly hostSetting: 'HOST' | 'MANAGEMENT_HOST';
  readonly host: string | undefined;
}

/** Null: there is none to listen. @throws ListenError */
async function listenOn<One extends Transport | null>(
  transport: One,
  place: ListenAddress,
): Promise<AddressInfo | (One extends null ? null : never)> {
  if (!transport) return null as One extends null ? null : never;
  try {
    return await transport.listen({ port: place.port ?? 0, host: place.host });
  } catch (error) {
    throw new ListenError(describe(error as NodeJS.ErrnoException, place));
  }
}

function describe(
  error: NodeJS.ErrnoException,
  { setting, port, hostSetting, host }: ListenAddress,
): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `${setting}: ${port} is in use on ${host ?? 'this machine'}`;
    case 'EACCES':
      return `${setting}: ${port} is not open to this user`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${hostSetting}: "${host}" is no address of this machine`;
    default:
      return error.message;
  }
}
