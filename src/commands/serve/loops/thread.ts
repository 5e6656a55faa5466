/** An event loop beside that of the main thread: what runs on its thread (`EventLoops` starts it). */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { describeApi } from '../../../protocols/openapi/document';
import { ConnectionLimit } from '../../../serving/connection-limit';
import {
  Credentials,
  type CredentialValues,
  type Renewal,
} from '../../../serving/credentials/credentials';
import { createLog } from '../../../serving/log';
import { Peers } from '../../../serving/peers';
import { startTracing } from '../../../serving/tracing/start';
import type { Config, ServiceName } from '../../../settings/config';
import { Streams } from '../../../streaming/streams';
import { TaskModel } from '../../../tasks/task-model';
import { PRESETS } from '../../presets';
import { ModelsService } from '../models/models-service';
import { RemoteRepository, type RepositoryReply } from '../models/remote-repository';
import { Attachments } from '../models/shared-catalogue';
import { readPages } from '../read-pages';
import { Servers } from '../servers';
import type { Service, SharedModels, SharedService } from '../service';
import { SingleService } from '../single-service';

/** What a thread is started with. */
export interface LoopData {
  /** From 1; the first event loop is that of the process's main thread. */
  readonly loop: number;
  readonly config: Config;
  /** Of the package. */
  readonly version: string;
  /** As they were read at start. */
  readonly credentials: CredentialValues;
  /** See `SharedLimit`. */
  readonly connections: SharedArrayBuffer;
}

const main = parentPort as MessagePort;
const data = workerData as LoopData;
const { loop, version } = data;
/** gRPC and the management API are served by the main thread. */
const config = { ...data.config, grpcPort: null, managementPort: null };

const log = createLog(config, { eventLoop: loop });
const peers = new Peers(loop);
const tracer = startTracing(config, version, log.logger);
const streams = new Streams(config, log.logger, loop);
const credentials = new Credentials(data.credentials);
const reading = readPages(config.service, log.logger);

let service: Service | null = null;
const attachments = new Attachments();
const repository = new RemoteRepository((question) => main.postMessage(question));
let servers: Servers | null = null;
let areSpansOut: boolean | undefined;

function attach(shared: SharedService): Service {
  const options = { config, version, gather: peers.gather, streams };
  if ('model' in shared) {
    const name = config.service as ServiceName;
    const single = new SingleService(name, options);
    single.show(TaskModel.attach(PRESETS[name].task, shared.model));
    return single;
  }
  const models = new ModelsService(options, repository);
  models.show(attachments.attach(shared.catalogue));
  return models;
}

/** What the first event loop may order, each answered when it is done. */
const orders = {
  /** @param descriptor of the thread's own, of the socket that all loops listen on */
  async serve(shared: SharedService, descriptor: number): Promise<void> {
    const pages = await reading;
    const { gather } = peers;
    service = attach(shared);
    const memory = { memory: data.connections, loop, peers };
    const connectionLimit = new ConnectionLimit(config.maxConnections, memory);
    servers = new Servers(
      config,
      {
        ...{ service, management: null, pages, tracer, describeApi },
        ...{ credentials, gather, connectionLimit, streams },
      },
      log,
    );
    await servers.listenOn(descriptor);
  },

  /** Other models are served, or another guard. */
  async show(shared: SharedModels): Promise<void> {
    const catalogue = attachments.attach(shared.catalogue);
    if (service instanceof ModelsService) {
      await service.guard.follow(shared.guard);
      service.show(catalogue);
    }
    servers?.show();
    await attachments.leaveOthers(catalogue);
  },

  /** All of them serve: each may ask the others, so many, what they have counted. */
  join: (others: number) => peers.join(others),

  /** Keys or certificate have changed. */
  renew: (renewal: Renewal) => credentials.renew(renewal),

  /** See `Servers.leave`. */
  leave: () => servers?.leave(),

  /** See `Servers.close`. */
  async close(spansTimeoutMs: number): Promise<void> {
    await servers?.close();
    [areSpansOut] = await Promise.all([tracer?.close(spansTimeoutMs), service?.close()]);
    if (areSpansOut === false) log.logger.warn('The last spans could not be exported in time.');
  },

  /** No loop will ask this one any more. */
  end(): void {
    peers.close();
    main.close();
    log.end();
    // An export that hangs would keep the thread alive.
    if (areSpansOut === false) log.flushThenExit(0);
  },
};

type Orders = typeof orders;
export type Order = {
  [Name in keyof Orders]: readonly [name: Name, ...given: Parameters<Orders[Name]>];
}[keyof Orders];

/** One after the other: what is ordered meanwhile waits. */
let last = Promise.resolve();
main.on('message', (message: Order | RepositoryReply) => {
  if (!Array.isArray(message)) {
    repository.answered(message as RepositoryReply);
    return;
  }
  const [name, ...given] = message as Order;
  const carryOut = orders[name] as (...given: unknown[]) => Promise<void> | void;
  last = last.then(async () => {
    await carryOut(...given);
    main.postMessage(null);
  });
});
