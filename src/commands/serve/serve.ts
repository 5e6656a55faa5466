import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { BatchService, FilesDirectoryError } from '../../batches/batch-service';
import { addon } from '../../native/addon';
import { ModelManager } from '../../repository/model-manager';
import { MODEL_FILE } from '../../repository/repository-paths';
import { CredentialError } from '../../serving/credentials/credential-file';
import { CredentialLoader } from '../../serving/credentials/credential-loader';
import { createLog, type Log } from '../../serving/log';
import { startTracing } from '../../serving/tracing/start';
import { watchForHang } from '../../serving/watchdog';
import type { Config } from '../../settings/config';
import { Streams } from '../../streaming/streams';
import { EXIT_FAILURE, EXIT_HUNG_MODEL, EXIT_USAGE, failWith } from '../exit';
import { findProcessorProblem } from '../processor-check';
import { readPages } from './pages';
import { RepositoryService } from './repository-service';
import { ListenError, type ServerParts, Servers } from './servers';
import { logLoaded, type Service, type ServiceOptions } from './service';
import { Shutdown } from './shutdown';
import { loadSingleModel, SingleModelService } from './single-model-service';

/** Maximum time to export the last spans, in ms. */
const SPANS_TIMEOUT_MS = 2000;

/** Runs the server: loads the models, listens until a signal, drains, unloads. */
export async function serve(config: Config, version: string): Promise<void> {
  const startedAt = performance.now();
  const log = createLog(config);
  const shutdown = new Shutdown(log, config);
  for (const warning of config.warnings) log.logger.warn(warning);
  const problem = findPathProblem(config) ?? processorProblem(config);
  if (problem) {
    log.end();
    return failWith(problem, EXIT_USAGE);
  }

  const loader = CredentialLoader.read(config.access, log.logger);
  const credentialFiles = await orFail(loader, CredentialError, EXIT_USAGE);
  if (!credentialFiles) return log.end();
  const { credentials } = credentialFiles;

  const openingBatches = openBatches(config, log.logger);
  const files = await orFail(openingBatches, FilesDirectoryError, EXIT_USAGE);
  if (!files) return log.end();
  const { batches } = files;
  const streams = new Streams(config, log.logger);
  const opening = open({ config, version, streams, batches }, log);
  // Parallel to loading the models, which has its own threads.
  const readingPages = readPages(config.service, log.logger);
  const tracer = startTracing(config, version, log.logger);
  const { describeApi } =
    require('../../protocols/openapi/document') as typeof import('../../protocols/openapi/document');
  if (config.grpcPort !== null) require('../../grpc/server');
  // Shutdown does not wait for the load: a model can hang in it.
  const loaded = await Promise.race([Promise.all([opening, readingPages]), shutdown.requested]);
  if (loaded && !shutdown.isRequested) {
    const [{ service, management, begin }, pages] = loaded;
    const parts = {
      service,
      management,
      pages,
      tracer,
      describeApi,
      credentials,
      streams,
      batches,
    };
    const servers = new Servers(config, parts, log);
    const address = await orFail(servers.listen(), ListenError, EXIT_FAILURE);
    if (address) {
      begin({ shutdown, servers });
      batches?.begin();
      const startMs = Math.round(performance.now() - startedAt);
      const { scheduling } = config;
      const modelLoaded = service.models().length > 0;
      const access = { keys: credentials.keys?.size ?? 0, tls: credentials.certificate !== null };
      log.logger.info({ ...address, modelLoaded, startMs, scheduling, access }, 'listening');
      log.flush();
      await shutdown.requested;
      servers.leave();
      await shutdown.closePorts;
      await servers.close();
    }
  }
  await batches?.close();
  const [areSpansOut] = await Promise.all([
    tracer?.close(spansTimeoutMs(shutdown)),
    loaded ? loaded[0].close() : stopLoading(),
  ]);
  if (areSpansOut === false) log.logger.warn('exporting the last spans timed out');
  log.logger.info('stopped');
  log.end();
  // A hung export would keep the process running; the engine's threads have ended.
  if (areSpansOut === false) log.flushThenExit(Number(process.exitCode ?? 0));
}

/** Opens FILES_DIR; services with one model have no routes for batches. @throws FilesDirectoryError */
async function openBatches(
  config: Config,
  logger: Log['logger'],
): Promise<{ readonly batches: BatchService | null }> {
  const { filesDir, service } = config;
  if (filesDir === null || service !== 'models') return { batches: null };
  return { batches: await BatchService.open(filesDir, config, logger) };
}

/** A service before its ports are open. */
interface OpenService {
  readonly service: Service;
  readonly management: ServerParts['management'];
  /** Called when the ports are open. */
  begin(running: { shutdown: Shutdown; servers: Servers }): void;
  close(): Promise<void>;
}

/** Opens the service. A single model is loaded before the port opens, for at most LISTEN_AFTER_MS; a repository after. */
async function open(options: ServiceOptions, log: Log): Promise<OpenService> {
  const { config } = options;
  if (config.service === 'models') return openRepository(options, log);
  const service = new SingleModelService(config.service, options);
  const loading = loadSingleModel(config.service, options, log).then((model) =>
    service.setModel(model),
  );
  await Promise.race([loading, delay(config.listenAfterMs, undefined, { ref: false })]);
  return {
    service,
    management: null,
    begin: ({ shutdown, servers }) => {
      const begin = (): void => {
        servers.update();
        watchForHang(service.monitor, log.logger, config, (problem) => {
          log.logger.fatal({ exitCode: EXIT_HUNG_MODEL, problem }, 'exiting: hung model');
          shutdown.exitWith(EXIT_HUNG_MODEL);
          service.drop();
        });
      };
      if (!service.isLoading) return begin();
      loading
        .then(() => (shutdown.isRequested ? undefined : begin()))
        .catch((error: Error) => {
          log.logger.fatal({ err: error }, 'serving the loaded model failed');
          shutdown.exitWith(EXIT_FAILURE);
        });
    },
    close: async () => (service.isLoading ? stopLoading() : service.close()),
  };
}

function openRepository(options: ServiceOptions, { logger }: Log): OpenService {
  const { config } = options;
  const { modelPaths, guardFile, modelsWatch, scheduling, inferenceGraceMs } = config;
  const manager = new ModelManager(
    {
      paths: modelPaths,
      guardFile,
      scheduling,
      isWatched: modelsWatch,
      abandonAfterMs: scheduling.inferenceTimeoutMs + inferenceGraceMs,
    },
    logger,
  );
  const service = new RepositoryService(options, manager);
  return {
    service,
    management: service.createManagementSite(),
    begin: ({ servers }) =>
      manager.begin({
        changed: () => servers.update(),
        modelLoaded: ({ name, task, model }, modelLogger) => {
          if (model) logLoaded(task, name, model, { config, logger: modelLogger });
        },
      }),
    close: () => manager.close(),
  };
}

function spansTimeoutMs(shutdown: Shutdown): number {
  return Math.min(SPANS_TIMEOUT_MS, shutdown.remainingMs / 2);
}

function stopLoading(): void {
  try {
    addon().stopAll();
  } catch {
    // The addon cannot be opened: no model is loading.
  }
}

/** Error of a path of `serve PATH…`. MODELS_DIR is not checked: it can be a volume that is mounted later. */
function findPathProblem({ modelPaths, modelsDir }: Config): string | undefined {
  for (const given of modelPaths.filter((one) => one !== modelsDir)) {
    const stats = statSync(given, { throwIfNoEntry: false });
    if (!stats) return `serve: ${given}: no such file or directory`;
    if (stats.isFile() && !MODEL_FILE.test(given)) {
      return `serve: ${given}: expected a model folder, or a .pt, .pt2 or .mar file`;
    }
  }
  return undefined;
}

function processorProblem(config: Config): string | undefined {
  try {
    return findProcessorProblem(config);
  } catch {
    return undefined; // The addon cannot be opened: the load error of the model reports it.
  }
}

/** Prints an expected error, sets the exit code and returns null. */
async function orFail<Value>(
  work: Promise<Value>,
  expected: typeof CredentialError | typeof FilesDirectoryError | typeof ListenError,
  exitCode: number,
): Promise<Value | null> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof expected)) throw error;
    failWith(error.message, exitCode);
    return null;
  }
}
