import { addon } from '../../native/addon';
import { ModelRepository } from '../../repository/model-repository';
import { watchGuardPolicy, watchModelFolders } from '../../repository/watch';
import type { Log } from '../../serving/log';
import type { Repository } from '../../tasks/model-repository';
import type { ServedModel } from '../../tasks/served-model';
import { repositoryApi } from './repository-api';
import { RepositoryService } from './repository-service';
import type { ServerParts } from './servers';
import { logLoaded, type ServiceOptions } from './service';
import { describeHang } from './watchdog';

/** How often models that have not come back are looked at, in ms. */
const HANG_CHECK_INTERVAL_MS = 100;

/** How long a directory that cannot be read at the start is left alone, in ms. */
const RETRY_INTERVAL_MS = 1000;

export interface ModelManager {
  readonly service: RepositoryService;
  readonly control: Repository;
  readonly management: ServerParts['management'];
  /**
   * Looks at the directory for the first time, and from then on whenever it is told to: SIGHUP, what clients
   * ask for, and with MODELS_WATCH changes of the folders.
   *
   * @param show called when `service` has other models, or another guard
   */
  begin(show: () => void): void;
  close(): Promise<void>;
}

export function manageModels(options: ServiceOptions, log: Log): ModelManager {
  const { config } = options;
  const { logger } = log;
  let show = (): void => {};
  const place = { directory: config.modelsDir as string, guardFile: config.guardFile };
  const repository = new ModelRepository(place, config.scheduling, {
    catalogueChanged: coalesce(async () => {
      service.show(repository.catalogue);
      show();
    }),
    modelLoaded: (name, version, { task, model }) => {
      if (model)
        logLoaded(task, name, model, {
          config,
          log: { ...log, logger: logger.child({ model: name, version }) },
        });
    },
    readerFailed: (error) => logger.error({ err: error }, 'thread that reads model folders failed'),
    loadFailed: (name, version, reason) =>
      logger.error({ model: name, version }, `Model is not loaded: ${reason}`),
    modelUnloaded: (name, version) => logger.info({ model: name, version }, 'model unloaded'),
  });
  const control = repositoryApi(repository);
  const service = new RepositoryService(options, control);
  // One after the other: SIGHUP and MODELS_WATCH may read the file at once, and the one that was read last counts.
  const readGuard = coalesce(async () => {
    const { guard } = service;
    await guard.update(await repository.readGuardPolicy());
    if (guard.reason !== null) logger.error(`The guard is not loaded: ${guard.reason}`);
    else if (guard.isConfigured)
      logger.info({ checks: guard.guard?.file.checks.length }, 'guard loaded');
    show();
  });
  const loadAll = async (): Promise<void> => {
    await readGuard();
    await repository.loadAll();
  };
  const timers: NodeJS.Timeout[] = [];
  let isWatched = !config.modelsWatch;
  /** Stamps are taken before the models are loaded, so that no change is missed. @throws ModelFileError */
  const beginWatching = async (): Promise<void> => {
    const [folders, guard] = [await repository.folderStamps(), await repository.guardPolicyStamp()];
    if (isWatched) return;
    isWatched = true;
    timers.push(watchModelFolders(repository, folders, logger));
    timers.push(watchGuardPolicy(repository, guard, { log: logger, readGuard }));
  };
  const look = async (): Promise<void> => {
    if (service.isStarting) await repository.listFolders(); // without it, reading the guard fails as well
    if (!isWatched) await beginWatching();
    await loadAll();
    service.unread = null;
    if (!service.isStarting) return;
    service.isStarting = false;
    logger.info({ models: service.served().length }, 'models loaded');
  };
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;
  const lookAgain = (): void => {
    clearTimeout(retry);
    look().catch((error: Error) => {
      if (error.message !== service.unread) logger.error(error.message);
      if (!service.isStarting || isClosed) return;
      // A directory that cannot be read yet may be a volume that is mounted later.
      service.unread = error.message;
      retry = setTimeout(lookAgain, RETRY_INTERVAL_MS).unref();
    });
  };
  return {
    service,
    control,
    management: service.managementOf(control),
    begin: (told) => {
      show = told;
      process.on('SIGHUP', lookAgain);
      timers.push(
        setInterval(
          () => abandonHungModels(repository, service.served(), { config, logger }),
          HANG_CHECK_INTERVAL_MS,
        ).unref(),
      );
      lookAgain();
    },
    close: async () => {
      isClosed = true;
      clearTimeout(retry);
      for (const timer of timers) clearInterval(timer);
      process.off('SIGHUP', lookAgain);
      await repository.close();
      addon().stopAll(); // a model that is being loaded may never come back from it
    },
  };
}

/**
 * What is asked for while it is being done is done once more after that, for all who have asked: a thousand
 * models that load change the catalogue thousands of times.
 */
function coalesce(run: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () => {
    next ??= last
      .catch(() => undefined)
      .then(() => new Promise((resolve) => setImmediate(resolve)))
      .then(() => {
        next = null;
        return run();
      });
    last = next;
    return next;
  };
}

/** A model that has not come back within the time of grace is asked no more; the others go on. */
function abandonHungModels(
  repository: ModelRepository,
  served: readonly ServedModel[],
  { config, logger }: { readonly config: ServiceOptions['config']; readonly logger: Log['logger'] },
): void {
  const { inferenceGraceMs, scheduling } = config;
  for (const one of served) {
    const monitor = one.model?.monitor ?? null;
    if ((monitor?.stuckMs ?? 0) > scheduling.inferenceTimeoutMs + inferenceGraceMs) {
      repository
        .abandon(one, describeHang(monitor) ?? '')
        .catch((error: Error) => logger.error({ err: error }, 'abandoning a hung model failed'));
    }
  }
}
