/** An event loop beside that of the main thread: what runs on its thread (`EventLoops` starts it). */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { describeApi } from '../../../protocols/openapi/document';
import { ConnectionLimit } from '../../../serving/connection-limit';
import { Credentials } from '../../../serving/credentials/credentials';
import { createLog } from '../../../serving/log';
import { Peers } from '../../../serving/peers';
import { startTracing } from '../../../serving/tracing/start';
import { readPages } from '../read-pages';
import { Servers } from '../servers';
import { attachService, type Service } from '../service';
import { describeStuck } from '../watchdog';
import type { LoopData, Order, Report } from './orders';

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

async function serve({ model, descriptor }: Order & { readonly type: 'serve' }): Promise<void> {
  const pages = await reading;
  const attached = attachService(model, { config, version, gather: peers.gather });
  service = attached;
  const { monitor } = attached;
  const describeProblem = (): string | null => monitor && describeStuck(monitor);
  servers = new Servers(
    config,
    {
      ...{ service: attached, pages, describeProblem, tracer, describeApi, credentials },
      gather: peers.gather,
      connectionLimit: new ConnectionLimit(config.maxConnections, {
        ...{ memory: data.connections, loop, peers },
      }),
    },
    log,
  );
  await servers.listenOn(descriptor);
}

/** False: the last spans are not out. */
async function close({ spansTimeoutMs }: Order & { readonly type: 'close' }): Promise<boolean> {
  await servers?.close();
  const [areSpansOut] = await Promise.all([tracer?.close(spansTimeoutMs), service?.close()]);
  if (areSpansOut === false) log.logger.warn('The last spans could not be exported in time.');
  return areSpansOut !== false;
}

let hasLeftovers = false;

async function carryOut(order: Order): Promise<void> {
  const report = (done: Report): void => main.postMessage(done);
  switch (order.type) {
    case 'serve':
      await serve(order);
      return report('serve');
    case 'join':
      return peers.join(order.others);
    case 'renew':
      credentials.renew(order.renewal);
      return report('renew');
    case 'leave':
      return servers?.leave();
    case 'close':
      hasLeftovers = !(await close(order));
      return report('close');
    case 'end':
      peers.close();
      main.close();
      log.end();
      // An export that hangs would keep the thread alive.
      if (hasLeftovers) log.flushThenExit(0);
  }
}

/** One after the other: what is ordered meanwhile waits. */
let last = Promise.resolve();
main.on('message', (order: Order) => {
  last = last.then(() => carryOut(order));
});
