import { redactPaths } from '../lib/redact-paths';
import { ModelFileError } from '../models/files';
import type { SchedulingOptions } from '../native/engine';
import { messageForClients } from '../native/unexpected-error';
import type { GuardSource } from '../tasks/guard/guard-state';
import { TASKS } from '../tasks/registry';
import {
  type Catalogue,
  type ModelVersion,
  mergeVersions,
  type NamedModel,
  type ServedModel,
  versionOf,
} from '../tasks/served-model';
import type { Task } from '../tasks/task';
import type { TaskModel } from '../tasks/task-model';
import { FolderReader } from './folder-reader';
import { LoadedModels } from './loaded-models';
import type { ModelJson } from './model-json';
import type { ModelFolder, ReadableVersion } from './read-folder';
import { SerialOperations } from './serial-operations';

/** Methods that the owner of a repository implements. */
export interface RepositoryEvents {
  /** The catalogue has changed. Resolves when removed models get no more requests; then they are closed. */
  catalogueChanged(): Promise<void>;
  modelLoaded(name: string, version: string, served: ServedModel): void;
  /** @param reason load error for clients, without paths */
  loadFailed(name: string, version: string | null, reason: string): void;
  modelUnloaded(name: string, version: string): void;
  /** The reader thread has ended with an unexpected error; its pending requests are rejected. */
  readerFailed(error: Error): void;
}

/**
 * Model repository: each sub-folder of a directory is a model, which is loaded and unloaded while the process serves
 * requests. Operations on the same model run one after another.
 */
export class ModelRepository {
  readonly #reader: FolderReader;
  readonly #events: RepositoryEvents;
  readonly #models = new Map<string, NamedModel>();
  readonly #loaded: LoadedModels;
  readonly #operations = new SerialOperations();
  #isClosed = false;

  /**
   * @param paths absolute paths of model repositories, model folders and model files
   * @param guardFile path of the guardrail policy; null: `guard.json` in a directory of `paths`, if it exists
   */
  constructor(
    { paths, guardFile }: { readonly paths: readonly string[]; readonly guardFile: string | null },
    scheduling: SchedulingOptions,
    events: RepositoryEvents,
  ) {
    const { dtype = 'float32' } = scheduling;
    const data = { paths, dtype, guardFile };
    this.#reader = new FolderReader(data, (error) => events.readerFailed(error));
    this.#loaded = new LoadedModels(scheduling, () => this.#reader.readMemoryBudget());
    this.#events = events;
  }

  /** Models sorted by name. A folder name has precedence over an alias; of equal aliases, the first folder has it. */
  get catalogue(): Catalogue {
    const models = [...this.#models.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const names = new Set(models.map(({ name }) => name));
    return models.map((model) => {
      const aliases = model.aliases.filter((alias) => names.size !== names.add(alias).size);
      return { ...model, aliases };
    });
  }

  /** Names of all model folders, also if not loaded. @throws ModelFileError: the directory cannot be read */
  async listFolders(): Promise<readonly string[]> {
    return (await this.#reader.list()).names;
  }

  /** Stamp of each model folder, by name, which changes with its files. @throws ModelFileError */
  folderStamps(): Promise<Readonly<Record<string, string>>> {
    return this.#reader.folderStamps();
  }

  readGuardPolicy(): Promise<GuardSource> {
    return this.#reader.readGuardPolicy();
  }

  /** Stamp that changes with the guardrail policy. */
  guardPolicyStamp(): Promise<string> {
    return this.#reader.guardPolicyStamp();
  }

  /**
   * Loads new and changed model folders and unloads removed folders. Load errors are in the catalogue and reported to
   * `events`.
   *
   * @throws ModelFileError: the directory cannot be read
   */
  async loadAll(): Promise<void> {
    const { names, problems } = await this.#reader.list();
    for (const problem of problems) this.#events.loadFailed('', null, problem);
    const removed = [...this.#models.keys()].filter((name) => !names.includes(name));
    await Promise.allSettled([...names, ...removed].map((name) => this.load(name)));
  }

  /**
   * Loads or reloads a model. The current model serves requests until the new model has passed its load-time check,
   * and stays if the load fails.
   *
   * @throws ModelFileError: the folder is missing or the load has failed
   */
  load(name: string): Promise<void> {
    return this.#operations.run(name, 'load', () => this.#load(name));
  }

  /** Unloads a model after its accepted requests. @throws ModelFileError: the model is not loaded */
  unload(name: string): Promise<void> {
    return this.#operations.run(name, 'unload', async () => {
      if (!this.#models.has(name)) throw new ModelFileError(`"${name}": is not loaded`);
      await this.#replace(name, null);
    });
  }

  /** Unloads a version after its accepted requests. @throws ModelFileError: the version is not loaded */
  unloadVersion(name: string, version: string): Promise<void> {
    return this.#operations.run(name, `unload ${version}`, async () => {
      const model = this.#requireLoaded(name, version);
      const versions = model.versions.filter((loaded) => loaded.version !== version);
      await this.#replace(name, versions.length > 0 ? { ...model, versions } : null);
    });
  }

  /** Sets the version for requests without a version. @throws ModelFileError: the version is not loaded */
  setDefault(name: string, version: string): Promise<void> {
    return this.#operations.run(name, `default ${version}`, async () => {
      await this.#publish(name, { ...this.#requireLoaded(name, version), defaultVersion: version });
    });
  }

  /** Abandons a hung version: it gets no more requests. */
  abandon(served: ServedModel, reason: string): Promise<void> {
    const { name, version } = served;
    return this.#operations.run(name, `abandon ${version}`, async () => {
      const model = this.#models.get(name);
      if (!model?.versions.some((one) => one.served === served)) return; // Replaced meanwhile.
      const versions = model.versions.map((one) =>
        one.served === served ? { ...one, state: 'failed' as const, reason, served: null } : one,
      );
      await this.#replace(name, { ...model, versions });
    });
  }

  /** Unloads all models after their accepted requests. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#loaded.close(), this.#reader.close()]);
  }

  #requireLoaded(name: string, version: string): NamedModel {
    const model = this.#models.get(name);
    if (model && versionOf(model, version)?.served) return model;
    throw new ModelFileError(`"${name}", version ${version}: is not loaded`);
  }

  async #load(name: string): Promise<void> {
    const found = await this.#read(name);
    const current = this.#models.get(name);
    if (found === null) {
      if (!current) throw new ModelFileError(`"${name}": there is no such folder`);
      return this.#replace(name, null);
    }
    const { settings } = found;
    const before = current ?? { ...describe(name, settings), versions: [], reason: null };
    const isLatest = settings.versions === 'latest';
    const loading = found.versions
      .slice(isLatest ? -1 : 0)
      .map(
        ({ version }): ModelVersion =>
          versionOf(before, version) ?? { version, state: 'loading', reason: null, served: null },
      );
    if (!current || loading.some((version) => !before.versions.includes(version))) {
      await this.#publish(name, { ...before, versions: mergeVersions(before.versions, loading) });
    }
    const loaded: ModelVersion[] = [];
    for (const one of found.versions.toReversed()) {
      loaded.push(await this.#loadVersion(name, one, before, settings));
      if (isLatest && loaded.at(-1)?.served) break;
    }
    const versions = loaded.reverse();
    const { defaultVersion } = before;
    const next = { ...describe(name, settings), defaultVersion, versions, reason: null };
    await this.#replace(name, next);
    const aliases = this.catalogue.find((model) => model.name === name)?.aliases ?? [];
    const conflicts = next.aliases.filter((alias) => !aliases.includes(alias));
    if (conflicts.length > 0) {
      const reason = `model.json: aliases: another model has the name ${conflicts.join(', ')}`;
      this.#events.loadFailed(name, null, reason);
      throw new ModelFileError(`"${name}": ${reason}`);
    }
    const failed = versions.findLast(({ reason }) => reason !== null);
    if (failed) throw new ModelFileError(`"${name}", version ${failed.version}: ${failed.reason}`);
  }

  async #read(name: string): Promise<ModelFolder | null> {
    try {
      return await this.#reader.read(name);
    } catch (error) {
      const reason = (error as Error).message;
      const current = this.#models.get(name) ?? { ...describe(name, null), versions: [] };
      await this.#publish(name, { ...current, reason });
      this.#events.loadFailed(name, null, reason);
      throw error;
    }
  }

  async #loadVersion(
    name: string,
    found: ModelFolder['versions'][number],
    before: NamedModel,
    settings: ModelJson,
  ): Promise<ModelVersion> {
    const { version } = found;
    const old = versionOf(before, version);
    try {
      if ('problem' in found) throw new ModelFileError(found.problem);
      const served = await this.#serve(name, found, settings, old?.served ?? null);
      return { version, state: 'ready', reason: null, served };
    } catch (error) {
      const path = 'path' in found ? found.path : name;
      const reason = redactPaths(messageForClients(error).replaceAll(path, name));
      this.#events.loadFailed(name, version, reason);
      const served = old?.served ?? null;
      return { version, state: served ? 'ready' : 'failed', reason, served };
    }
  }

  async #serve(
    name: string,
    found: ReadableVersion,
    settings: ModelJson,
    old: ServedModel | null,
  ): Promise<ServedModel> {
    const task = TASKS.find(({ name }) => name === found.task) as Task;
    const model = await this.#loaded.acquire(task, found, settings);
    if (model === old?.model) {
      this.#loaded.release(model);
      return old;
    }
    if (this.#isClosed) throw new ModelFileError('the process is shutting down');
    const title = found.metadata.name ?? name;
    const served = { name, task, title, version: found.version, model, reason: null };
    this.#events.modelLoaded(name, found.version, served);
    return served;
  }

  /** Replaces a model in the catalogue and closes its removed versions. @param next null: removes the model */
  async #replace(name: string, next: NamedModel | null): Promise<void> {
    const before = this.#models.get(name);
    const kept = new Set(next?.versions.map(({ served }) => served));
    const removed = (before?.versions ?? []).filter(({ served }) => served && !kept.has(served));
    const unloading = removed
      .filter(({ version }) => next === null || !versionOf(next, version))
      .map((one): ModelVersion => ({ ...one, state: 'unloading', served: null }));
    const base = next ?? (before as NamedModel);
    await this.#publish(name, {
      ...base,
      versions: mergeVersions(unloading, next?.versions ?? []),
    });
    await Promise.all(
      removed.map(async ({ version, served }) => {
        await this.#loaded.release((served as ServedModel).model as TaskModel);
        this.#events.modelUnloaded(name, version);
      }),
    );
    if (next) {
      this.#models.set(name, next);
    } else {
      this.#models.delete(name);
      await this.#reader.removeUnpacked(name);
    }
    if (unloading.length > 0 || !next) await this.#events.catalogueChanged();
  }

  async #publish(name: string, model: NamedModel): Promise<void> {
    this.#models.set(name, model);
    await this.#events.catalogueChanged();
  }
}

function describe(name: string, settings: ModelJson | null) {
  return {
    name,
    aliases: settings?.aliases ?? [],
    isDefault: settings?.default ?? false,
    isRequired: settings?.required ?? false,
    defaultVersion: null,
  };
}
