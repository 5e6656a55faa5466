import { redactPaths } from '../lib/redact-paths';
import { ModelFileError } from '../models/files';
import type { SchedulingOptions } from '../native/engine';
import { messageForClients } from '../native/unexpected-error';
import type { GuardSource } from '../tasks/guard/guard-state';
import { TASKS } from '../tasks/registry';
import type { Catalogue, ModelVersion, NamedModel, ServedModel } from '../tasks/served-model';
import type { Task } from '../tasks/task';
import type { TaskModel } from '../tasks/task-model';
import { FolderReader } from './folder-reader';
import { LoadedModels } from './loaded-models';
import type { ModelJson } from './model-json';
import type { ModelFolder, ReadableVersion } from './read-folder';
import { SerialOperations } from './serial-operations';

/** Who is told what the repository does. */
export interface RepositoryEvents {
  /**
   * The catalogue has changed: resolves when nothing asks the models any more that are not in it. They
   * are closed then.
   */
  catalogueChanged(): Promise<void>;
  modelLoaded(name: string, version: string, served: ServedModel): void;
  /** @param reason for clients */
  loadFailed(name: string, version: string | null, reason: string): void;
  modelUnloaded(name: string, version: string): void;
  /** The thread that reads the folders has ended with an error; what was being read is rejected. */
  readerFailed(error: Error): void;
}

/**
 * The models of a directory, each of its sub-folders one, loaded and unloaded while they serve. What is
 * asked about one name is done in turn, whoever asks.
 */
export class ModelRepository {
  readonly #reader: FolderReader;
  readonly #events: RepositoryEvents;
  readonly #models = new Map<string, NamedModel>();
  readonly #loaded: LoadedModels;
  readonly #operations = new SerialOperations();
  #isClosed = false;

  /** @param guardFile null: the one of the directory, if it has any */
  constructor(
    { directory, guardFile }: { readonly directory: string; readonly guardFile: string | null },
    scheduling: SchedulingOptions,
    events: RepositoryEvents,
  ) {
    const { dtype = 'float32' } = scheduling;
    const data = { directory, dtype, guardFile };
    this.#reader = new FolderReader(data, (error) => events.readerFailed(error));
    this.#loaded = new LoadedModels(scheduling, () => this.#reader.readMemoryBudget());
    this.#events = events;
  }

  /** A name is one model's: a folder's before an alias, and of two aliases the first by folder. */
  get catalogue(): Catalogue {
    const models = [...this.#models.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const taken = new Set(models.map(({ name }) => name));
    return models.map((model) => {
      const aliases = model.aliases.filter((alias) => taken.size !== taken.add(alias).size);
      return { ...model, aliases };
    });
  }

  /** Names of all folders, loaded or not. @throws ModelFileError: the directory cannot be read */
  async listFolders(): Promise<readonly string[]> {
    return (await this.#reader.list()).names;
  }

  /** By name, something that changes with any file of the folder. @throws ModelFileError */
  folderStamps(): Promise<Readonly<Record<string, string>>> {
    return this.#reader.folderStamps();
  }

  /** What its file says now. */
  readGuardPolicy(): Promise<GuardSource> {
    return this.#reader.readGuardPolicy();
  }

  /** Something that changes with its file. */
  guardPolicyStamp(): Promise<string> {
    return this.#reader.guardPolicyStamp();
  }

  /**
   * Looks at all folders again: loads what is new or has changed, unloads what has gone. What fails is in
   * the catalogue and told to `events`.
   *
   * @throws ModelFileError: the directory cannot be read
   */
  async loadAll(): Promise<void> {
    const { names, problems } = await this.#reader.list();
    for (const problem of problems) this.#events.loadFailed('', null, problem);
    const gone = [...this.#models.keys()].filter((name) => !names.includes(name));
    await Promise.allSettled([...names, ...gone].map((name) => this.load(name)));
  }

  /**
   * Looks at a folder again. What it holds is loaded beside what serves and takes over when it has answered
   * its trial; where that fails, what serves goes on.
   *
   * @throws ModelFileError: there is no such folder, or what it holds cannot be loaded
   */
  load(name: string): Promise<void> {
    return this.#operations.run(name, 'load', () => this.#load(name));
  }

  /** Answers what was accepted, and frees it. @throws ModelFileError: there is no such model */
  unload(name: string): Promise<void> {
    return this.#operations.run(name, 'unload', async () => {
      if (!this.#models.has(name)) throw new ModelFileError(`"${name}": is not loaded`);
      await this.#replace(name, null);
    });
  }

  /** The same of one version. @throws ModelFileError: it is not loaded */
  unloadVersion(name: string, version: string): Promise<void> {
    return this.#operations.run(name, `unload ${version}`, async () => {
      const model = this.#requireLoaded(name, version);
      const versions = model.versions.filter((one) => one.version !== version);
      await this.#replace(name, versions.length > 0 ? { ...model, versions } : null);
    });
  }

  /** It answers where none is named, until it is unloaded. @throws ModelFileError: it is not loaded */
  setDefault(name: string, version: string): Promise<void> {
    return this.#operations.run(name, `default ${version}`, async () => {
      await this.#show(name, { ...this.#requireLoaded(name, version), defaultVersion: version });
    });
  }

  /** A version does not come back from a run: it is asked no more. */
  abandon(served: ServedModel, reason: string): Promise<void> {
    const { name, version } = served;
    return this.#operations.run(name, `give up ${version}`, async () => {
      const model = this.#models.get(name);
      if (!model?.versions.some((one) => one.served === served)) return; // another has taken its place
      const versions = model.versions.map((one) =>
        one.served === served ? { ...one, state: 'failed' as const, reason, served: null } : one,
      );
      await this.#replace(name, { ...model, versions });
    });
  }

  /** Refuses what comes and what waits; what runs goes on. */
  drop(): void {
    for (const model of this.#loaded.models) model.drop();
  }

  /** Answers what was accepted, and frees all. */
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
    const known = this.#models.get(name);
    if (found === null) {
      if (!known) throw new ModelFileError(`"${name}": there is no such folder`);
      return this.#replace(name, null);
    }
    const { settings } = found;
    const before = known ?? { ...describe(name, settings), versions: [], reason: null };
    // Seen while they load; what serves goes on.
    const isLatest = settings.versions === 'latest';
    const loading = found.versions
      .slice(isLatest ? -1 : 0)
      .map((one) => versionOf(before, one.version) ?? loadingVersion(one.version));
    const isNew = loading.some((one) => !before.versions.includes(one));
    if (!known || isNew) {
      await this.#show(name, { ...before, versions: mergeVersions(before.versions, loading) });
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
    const answers = this.catalogue.find((model) => model.name === name)?.aliases ?? [];
    const others = next.aliases.filter((alias) => !answers.includes(alias));
    if (others.length > 0) {
      const reason = `model.json: aliases: another model has the name ${others.join(', ')}`;
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
      const known = this.#models.get(name) ?? { ...describe(name, null), versions: [] };
      await this.#show(name, { ...known, reason });
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
      const place = 'path' in found ? found.path : name;
      const reason = redactPaths(messageForClients(error).replaceAll(place, name));
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
    const task = TASKS.find((one) => one.name === found.task) as Task;
    const model = await this.#loaded.acquire(task, found, settings);
    if (model === old?.model) {
      this.#loaded.release(model);
      return old;
    }
    if (this.#isClosed) throw new ModelFileError('the process is ending');
    const title = found.metadata.name ?? name;
    const served = { name, task, title, version: found.version, model, reason: null };
    this.#events.modelLoaded(name, found.version, served);
    return served;
  }

  /** Puts it into the catalogue; what it no longer serves is closed. @param next null: nothing of it */
  async #replace(name: string, next: NamedModel | null): Promise<void> {
    const before = this.#models.get(name);
    const kept = new Set(next?.versions.map(({ served }) => served));
    const gone = (before?.versions ?? []).filter(({ served }) => served && !kept.has(served));
    const leaving = gone
      .filter(({ version }) => next === null || !versionOf(next, version))
      .map((one): ModelVersion => ({ ...one, state: 'unloading', served: null }));
    const base = next ?? (before as NamedModel);
    await this.#show(name, { ...base, versions: mergeVersions(leaving, next?.versions ?? []) });
    await Promise.all(
      gone.map(async ({ version, served }) => {
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
    if (leaving.length > 0 || !next) await this.#events.catalogueChanged();
  }

  async #show(name: string, model: NamedModel): Promise<void> {
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

function versionOf({ versions }: NamedModel, version: string): ModelVersion | undefined {
  return versions.find((one) => one.version === version);
}

function loadingVersion(version: string): ModelVersion {
  return { version, state: 'loading', reason: null, served: null };
}

/** All of both by version, ascending; of two the second. */
function mergeVersions(
  first: readonly ModelVersion[],
  second: readonly ModelVersion[],
): readonly ModelVersion[] {
  const byVersion = new Map([...first, ...second].map((one) => [one.version, one]));
  return [...byVersion.values()].sort((a, b) => Number(a.version) - Number(b.version));
}
