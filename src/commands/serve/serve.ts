import { setTimeout as delay } from 'node:timers/promises';
import { addon } from '../../native/addon';
import { CredentialError } from '../../serving/credentials/credential-file';
import { CredentialLoader } from '../../serving/credentials/credential-loader';
import { createLog, type Log } from '../../serving/log';
import { startTracing } from '../../serving/tracing/start';
import type { Config } from '../../settings/config';
import { Streams } from '../../streaming/streams';
import { EXIT_FAILURE, EXIT_HUNG_MODEL, EXIT_USAGE, failWith } from '../exit-codes';
import { findProcessorProblem } from '../processor-check';
import { manageModels } from './model-manager';
import { readPages } from './pages';
import { ListenError, type ServerParts, Servers } from './servers';
import type { Service, ServiceOptions } from './service';
import { Shutdown } from './shutdown';
import { loadSingleModel, SingleModelService } from './single-model-service';
import { watchForHang } from './watchdog';

/** How long the last spans may take to be exported. */
const SPANS_TIMEOUT_MS = 2000;

/** The life of the process: load, listen until told to stop, drain, unload. */
export async function serve(config: Config, version: string): Promise<void> {
  const startedAt = performance.now();
  const log = createLog(config);
  const shutdown = new Shutdown(log, config);
  for (const warning of config.warnings) log.logger.warn(warning);
  const problem = describeProblemOfProcessor(config);
  if (problem) {
    log.end();
    return failWith(problem, EXIT_USAGE);
  }

  const reading = CredentialLoader.read(config.access, log.logger);
  const credentialFiles = await orFail(reading, CredentialError, EXIT_USAGE);
  if (!credentialFiles) return log.end();
  const { credentials } = credentialFiles;

  const streams = new Streams(config, log.logger);
  const opening = open({ config, version, streams }, log);
  // Beside the loading, which has threads of its own.
  const readingPages = readPages(config.service, log.logger);
  const tracer = startTracing(config, version, log.logger);
  const { describeApi } =
    require('../../protocols/openapi/document') as typeof import('../../protocols/openapi/document');
  if (config.grpcPort !== null) require('../../grpc/server');
  // A load that is told to stop is left, since a model may never come back from it.
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
    };
    const servers = new Servers(config, parts, log);
    const address = await orFail(servers.listen(), ListenError, EXIT_FAILURE);
    if (address) {
      begin({ shutdown, servers });
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
  const [areSpansOut] = await Promise.all([
    tracer?.close(spansTimeoutMs(shutdown)),
    loaded ? loaded[0].close() : stopLoading(),
  ]);
  if (areSpansOut === false) log.logger.warn('The last spans could not be exported in time.');
  log.logger.info('stopped');
  log.end();
  // An export that hangs would keep the process alive; the engine's threads have ended.
  if (areSpansOut === false) log.flushThenExit(Number(process.exitCode ?? 0));
}

/** A service whose port is to be opened, and what it does from then on. */
interface Opened {
  readonly service: Service;
  readonly management: ServerParts['management'];
  begin(running: { shutdown: Shutdown; servers: Servers }): void;
  close(): Promise<void>;
}

/** The models of a directory are loaded when the port is open; one model before that, if it takes no longer than it may. */
async function open(options: ServiceOptions, log: Log): Promise<Opened> {
  const { config } = options;
  if (config.service === 'models') return openAll(options, log);
  const service = new SingleModelService(config.service, options);
  const loading = loadSingleModel(config.service, options, log).then((model) =>
    service.show(model),
  );
  await Promise.race([loading, delay(config.listenAfterMs, undefined, { ref: false })]);
  return {
    service,
    management: null,
    begin: ({ shutdown, servers }) => {
      const begin = (): void => {
        servers.show();
        watchForHang(service.monitor, log.logger, config, (problem) => {
          log.logger.fatal({ exitCode: EXIT_HUNG_MODEL }, `ending: ${problem}`);
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

function openAll(options: ServiceOptions, log: Log): Opened {
  const models = manageModels(options, log);
  const { service, management } = models;
  return {
    service,
    management,
    begin: ({ servers }) => models.begin(() => servers.show()),
    close: () => models.close(),
  };
}

/** How long the last spans may take. */
function spansTimeoutMs(shutdown: Shutdown): number {
  return Math.min(SPANS_TIMEOUT_MS, shutdown.remainingMs / 2);
}

function stopLoading(): void {
  try {
    addon().stopAll();
  } catch {
    // The addon cannot be opened, so nothing is being loaded.
  }
}

function describeProblemOfProcessor(config: Config): string | undefined {
  try {
    return findProcessorProblem(config);
  } catch {
    return undefined; // the addon cannot be opened: loading the model says so
  }
}

/** Null where it was one of these errors, of which people are told: then the process is to end. */
async function orFail<Value>(
  work: Promise<Value>,
  expected: typeof CredentialError | typeof ListenError,
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
