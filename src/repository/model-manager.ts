import type { Logger } from 'pino';
import { addon } from '../native/addon';
import type { SchedulingOptions } from '../native/engine';
import { LOAD_ERROR } from '../serving/log';
import { describeHang } from '../serving/watchdog';
import { GuardState } from '../tasks/guard/guard-state';
import type { VersionedRepository } from '../tasks/model-repository';
import type { Catalogue, ServedModel } from '../tasks/served-model';
import { ModelRepository } from './model-repository';
import { repositoryApi } from './repository-api';
import { watchGuardPolicy, watchModelFolders } from './watch';

/** Interval of checks for hung models, in ms. */
const HANG_CHECK_INTERVAL_MS = 100;

/** Delay before an unreadable repository is read again, in ms. */
const RETRY_INTERVAL_MS = 1000;

export interface ModelManagerOptions {
  /** Absolute paths of model repositories, model folders and model files. */
  readonly paths: readonly string[];
  /** Path of the guardrail policy (GUARD_FILE); null: `guard.json` in the repository, if any. */
  readonly guardFile: string | null;
  readonly scheduling: SchedulingOptions;
  /** Whether changed folders are reloaded (MODELS_WATCH). */
  readonly isWatched: boolean;
  /** Duration of a batch after which its model is abandoned, in ms. */
  readonly abandonAfterMs: number;
}

/** Methods that the owner of a manager implements. */
export interface ModelManagerEvents {
  /** The catalogue or the guardrail policy has changed. */
  changed(): void;
  modelLoaded(served: ServedModel, logger: Logger): void;
}

/**
 * Manages the models of a repository while the process runs: loads them at the start, reloads them on SIGHUP, on
 * requests of the management API and, with MODELS_WATCH, when folders change, and abandons hung models.
 */
export class ModelManager {
  readonly guard = new GuardState();
  /** Operations of the management API. */
  readonly api: VersionedRepository;
  /** Models that are served. */
  catalogue: Catalogue = [];
  /** Names of the models that were in the repository at the start. */
  readonly startupNames = new Set<string>();
  /** True until all folders have been loaded for the first time. */
  isStarting = true;
  /** Why the repository cannot be read at the start; null: it was read, or was not read yet. */
  startProblem: string | null = null;
  readonly #options: ModelManagerOptions;
  readonly #logger: Logger;
  readonly #repository: ModelRepository;
  readonly #timers: NodeJS.Timeout[] = [];
  #events: ModelManagerEvents | null = null;
  #isWatching: boolean;
  #isClosed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: ModelManagerOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    this.#isWatching = !options.isWatched;
    this.#repository = this.#createRepository();
    this.api = repositoryApi(this.#repository);
  }

  /** All loaded versions of all models. */
  get served(): readonly ServedModel[] {
    return this.catalogue
      .flatMap(({ versions }) => versions.flatMap(({ served }) => served ?? []))
      .filter(({ model }) => model !== null);
  }

  /** Starts to load the models. */
  begin(events: ModelManagerEvents): void {
    this.#events = events;
    process.on('SIGHUP', this.#reload);
    const abandon = () => this.#abandonHungModels();
    this.#timers.push(setInterval(abandon, HANG_CHECK_INTERVAL_MS).unref());
    this.#reload();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    for (const timer of this.#timers) clearInterval(timer);
    process.off('SIGHUP', this.#reload);
    await this.#repository.close();
    addon().stopAll(); // A model that is still loading can hang.
  }

  #createRepository(): ModelRepository {
    const { paths, guardFile, scheduling } = this.#options;
    const logger = this.#logger;
    return new ModelRepository({ paths, guardFile }, scheduling, {
      catalogueChanged: coalesce(async () => {
        this.catalogue = this.#repository.catalogue;
        if (this.isStarting) for (const { name } of this.catalogue) this.startupNames.add(name);
        this.#events?.changed();
      }),
      modelLoaded: (name, version, served) =>
        this.#events?.modelLoaded(served, logger.child({ model: name, version })),
      readerFailed: (error) => logger.error({ err: error }, 'model folder reader failed'),
      loadFailed: (name, version, reason) =>
        logger.error({ model: name, version, ...LOAD_ERROR }, `Model is not loaded: ${reason}`),
      modelUnloaded: (name, version) => logger.info({ model: name, version }, 'model unloaded'),
    });
  }

  /** Reads the repository and loads new and changed models; retries while the repository is unreadable. */
  readonly #reload = (): void => {
    clearTimeout(this.#retry);
    this.#loadAll().catch((error: Error) => {
      if (error.message !== this.startProblem) this.#logger.error(error.message);
      if (!this.isStarting || this.#isClosed) return;
      // An unreadable directory can be a volume that is mounted later.
      this.startProblem = error.message;
      this.#retry = setTimeout(this.#reload, RETRY_INTERVAL_MS).unref();
    });
  };

  /** @throws ModelFileError: the repository cannot be read */
  async #loadAll(): Promise<void> {
    // An unreadable directory also has no readable guardrail policy: report the directory.
    if (this.isStarting) await this.#repository.listFolders();
    if (!this.#isWatching) await this.#beginWatching();
    await this.#reloadGuard();
    await this.#repository.loadAll();
    this.startProblem = null;
    if (!this.isStarting) return;
    this.isStarting = false;
    this.#logger.info({ models: this.served.length }, 'models loaded');
  }

  /** Takes the stamps before the models are loaded, so that no change is missed. @throws ModelFileError */
  async #beginWatching(): Promise<void> {
    const repository = this.#repository;
    const folderStamps = await repository.folderStamps();
    const guardStamp = await repository.guardPolicyStamp();
    if (this.#isWatching) return;
    this.#isWatching = true;
    const reloadGuard = this.#reloadGuard;
    this.#timers.push(watchModelFolders(repository, folderStamps, this.#logger));
    this.#timers.push(watchGuardPolicy(repository, guardStamp, { log: this.#logger, reloadGuard }));
  }

  /** Coalesced: SIGHUP and MODELS_WATCH can reload the policy at the same time, and the last read must win. */
  readonly #reloadGuard = coalesce(async () => {
    const { guard } = this;
    await guard.update(await this.#repository.readGuardPolicy());
    if (guard.reason !== null) this.#logger.error(`The guard is not loaded: ${guard.reason}`);
    else if (guard.isConfigured)
      this.#logger.info({ checks: guard.guard?.file.checks.length }, 'guard loaded');
    this.#events?.changed();
  });

  /** Abandons models whose batch exceeds its maximum duration; other models continue. */
  #abandonHungModels(): void {
    for (const served of this.served) {
      const monitor = served.model?.monitor ?? null;
      if ((monitor?.stuckMs ?? 0) <= this.#options.abandonAfterMs) continue;
      this.#repository
        .abandon(served, describeHang(monitor) ?? '')
        .catch((error: Error) =>
          this.#logger.error({ err: error }, 'abandoning a hung model failed'),
        );
    }
  }
}

/** Merges all calls during a run into one further run: loading 1,000 models changes the catalogue thousands of times. */
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
