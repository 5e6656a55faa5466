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
import type { Config } from '../../../settings/config';
import type { SharedModel } from '../../../tasks/task-model';
import { readPages } from '../read-pages';
import { Servers } from '../servers';
import { attachService, type Service } from '../service';

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
/** gRPC is served by the main thread. */
const config = { ...data.config, grpcPort: null };

const log = createLog(config, { eventLoop: loop });
const peers = new Peers(loop);
const tracer = startTracing(config, version, log.logger);
const credentials = new Credentials(data.credentials);
const reading = readPages(config.service, log.logger);

let service: Service | null = null;
let servers: Servers | null = null;
let areSpansOut: boolean | undefined;

/** What the first event loop may order, each answered when it is done. */
const orders = {
  /** @param descriptor of the thread's own, of the socket that all loops listen on */
  async serve(model: SharedModel, descriptor: number): Promise<void> {
    const pages = await reading;
    const { gather } = peers;
    service = attachService(model, { config, version, gather });
    const shared = { memory: data.connections, loop, peers };
    const connectionLimit = new ConnectionLimit(config.maxConnections, shared);
    const parts = { service, pages, tracer, describeApi, credentials, gather, connectionLimit };
    servers = new Servers(config, parts, log);
    await servers.listenOn(descriptor);
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
main.on('message', ([name, ...given]: Order) => {
  const carryOut = orders[name] as (...given: unknown[]) => Promise<void> | void;
  last = last.then(async () => {
    await carryOut(...given);
    main.postMessage(name);
  });
});
