import type { AddressInfo } from 'node:net';
import type { BatchService } from '../../batches/batch-service';
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
import { batchEndpoints } from './mounts';
import { type Pages, pagesBelow } from './pages';
import type { Service, ServiceSite } from './service';

/** Site of a port, without pages. */
type PortSite = Omit<ServiceSite, 'pages'>;

export interface ServerParts {
  readonly service: Service;
  /** Site of MANAGEMENT_PORT; null: the service has no management API. */
  readonly management: PortSite | null;
  readonly pages: Pages;
  readonly tracer: Tracer | null;
  readonly describeApi: typeof describeApi;
  readonly credentials: Credentials;
  readonly streams: Streams;
  /** Null: FILES_DIR is not set. */
  readonly batches: BatchService | null;
}

/** A port that cannot be opened; the message starts with its setting. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Servers of the process: HTTP, gRPC if GRPC_PORT is set, and the management API if MANAGEMENT_PORT is set. */
export class Servers {
  readonly #config: Config;
  readonly #service: Service;
  readonly #http: HttpServer;
  /** Null: GRPC_PORT is not set. */
  readonly #grpc: GrpcServer | null;
  /** Null: MANAGEMENT_PORT is not set, or the service has no management API. */
  readonly #management: HttpServer | null;
  readonly #all: readonly Transport[];
  readonly #metrics: Metrics;
  readonly #batches: BatchService | null;
  readonly #pages: Pages;
  readonly #describeApi: ServerParts['describeApi'];

  constructor(config: Config, parts: ServerParts, { logger }: Log) {
    const { service, management, credentials, tracer, pages, streams } = parts;
    const metrics = createMetrics({
      packageVersion: service.site.documentation.info.version,
      loaded: service.loaded,
      loadFailed: service.loadFailed,
      models: service.models,
      additional: () => [...(service.families?.() ?? []), ...(parts.batches?.families() ?? [])],
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
    this.#pages = pages;
    this.#describeApi = parts.describeApi;
    this.#metrics = metrics;
    this.#batches = parts.batches;
    parts.batches?.attach(context);
    this.#http = new HttpServer(context, this.#currentSite(), () => streams.close());
    this.#grpc = config.grpcPort === null ? null : createGrpcServer(context, service);
    const isManaged = management !== null && config.managementPort !== null;
    this.#management = isManaged ? new HttpServer(context, this.#toSite(management, [])) : null;
    metrics.observeModels();
    this.#all = [this.#http, this.#grpc, this.#management].filter((server) => server !== null);
    credentials.onCertificate = (certificate) => {
      for (const transport of this.#all) transport.renew(certificate);
    };
  }

  /** Serves the current site of the service: call it when models are loaded or unloaded. */
  update(): void {
    this.#http.publish(this.#currentSite());
    this.#grpc?.replaceServices(this.#service.grpc());
    this.#metrics.observeModels();
  }

  /** @returns addresses and ports, for the log. @throws ListenError */
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
    const timeoutMs = drainTimeout(shutdownTimeoutMs - shutdownDelayMs);
    await Promise.all(this.#all.map((transport) => transport.close(timeoutMs)));
  }

  /** The routes and pages of the service, which batches also call. */
  #currentSite(): Site {
    const { site } = this.#service;
    this.#batches?.publish(batchEndpoints(site));
    return this.#toSite(
      site,
      site.pages.flatMap(({ name, at }) => pagesBelow(this.#pages, name, at)),
    );
  }

  #toSite({ mounts, documentation, resourceOf }: PortSite, pages: Site['pages']): Site {
    return {
      mounts,
      resourceOf,
      pages,
      describeApi: (isPublic) => this.#describeApi(documentation, isPublic),
    };
  }
}

/** Loads the packages of gRPC on demand: they take a while. */
function createGrpcServer(context: ServerContext, service: Service): GrpcServer {
  const { GrpcServer } = require('../../grpc/server') as typeof import('../../grpc/server');
  return new GrpcServer(context, service.grpc());
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Address of a server, and its settings. */
interface ListenAddress {
  readonly setting: 'PORT' | 'GRPC_PORT' | 'MANAGEMENT_PORT';
  readonly port: number | null;
  readonly hostSetting: 'HOST' | 'MANAGEMENT_HOST';
  readonly host: string | undefined;
}

/** @returns null without a transport. @throws ListenError */
async function listenOn<Server extends Transport | null>(
  transport: Server,
  address: ListenAddress,
): Promise<AddressInfo | (Server extends null ? null : never)> {
  if (!transport) return null as Server extends null ? null : never;
  try {
    return await transport.listen({ port: address.port ?? 0, host: address.host });
  } catch (error) {
    throw new ListenError(describe(error as NodeJS.ErrnoException, address));
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
      return `${setting}: ${port} permission denied. Use a port above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${hostSetting}: "${host}" is not an address of this machine`;
    default:
      return error.message;
  }
}
