import { ModelFileError } from '../models/files';
import type { SchedulingOptions } from '../native/engine';
import { requireAbilities, toServedModel } from '../tasks/served-model';
import type { Task } from '../tasks/task';
import { TaskModel } from '../tasks/task-model';
import { describeMemoryShortage, type MemoryBudget } from './memory-budget';
import type { ModelJson } from './model-json';
import type { ReadableVersion } from './read-folder';

/** Maximum number of concurrent loads: a slow or hung load does not block other models. */
const MAX_CONCURRENT_LOADS = 2;

/** Memory of LibTorch itself, in bytes. */
const LIBTORCH_BYTES = 128 * 2 ** 20;

interface LoadedModel {
  readonly model: Promise<TaskModel>;
  /** Number of `acquire` without `release`. */
  users: number;
}

/** Models in memory. Equal files under several names are one model with one queue. */
export class LoadedModels {
  readonly #scheduling: SchedulingOptions;
  /** Models by fingerprint, also while they load. */
  readonly #loaded = new Map<string, LoadedModel>();
  /** Fingerprints of loaded models. */
  readonly #ready = new Map<TaskModel, string>();
  /** Loads that wait for a slot. */
  readonly #queuedLoads: (() => void)[] = [];
  #loading = 0;
  readonly #readMemoryBudget: () => Promise<MemoryBudget>;
  /** Bytes reserved for models that are loading. */
  #reserved = 0;
  /** Bytes reserved for LibTorch until the first model is loaded. */
  #libtorchBytes = LIBTORCH_BYTES;
  /** Loads that wait for the end of other loads, to read the memory budget again. */
  readonly #waitingForMemory: (() => void)[] = [];

  constructor(scheduling: SchedulingOptions, readMemoryBudget: () => Promise<MemoryBudget>) {
    this.#scheduling = scheduling;
    this.#readMemoryBudget = readMemoryBudget;
  }

  get models(): readonly TaskModel[] {
    return [...this.#ready.keys()];
  }

  /** Loads a model, or returns the model with the same fingerprint. Call `release` afterwards. @throws ModelFileError, EngineError */
  async acquire(task: Task, version: ReadableVersion, settings: ModelJson): Promise<TaskModel> {
    const { fingerprint } = version;
    const loaded = this.#loaded.get(fingerprint);
    if (loaded) {
      loaded.users++;
      return loaded.model;
    }
    const model = this.#load(task, version, settings);
    this.#loaded.set(fingerprint, { model, users: 1 });
    try {
      this.#ready.set(await model, fingerprint);
    } catch (error) {
      this.#loaded.delete(fingerprint);
      throw error;
    }
    return model;
  }

  /** Closes a model without users. Resolves after its accepted requests. */
  async release(model: TaskModel): Promise<void> {
    const fingerprint = this.#ready.get(model) as string;
    const loaded = this.#loaded.get(fingerprint) as LoadedModel;
    loaded.users--;
    if (loaded.users > 0) return;
    this.#loaded.delete(fingerprint);
    this.#ready.delete(model);
    await model.close();
  }

  async close(): Promise<void> {
    await Promise.all(this.models.map((model) => model.close()));
  }

  async #load(task: Task, version: ReadableVersion, settings: ModelJson): Promise<TaskModel> {
    if (this.#loading >= MAX_CONCURRENT_LOADS)
      await new Promise<void>((resolve) => this.#queuedLoads.push(resolve));
    else this.#loading++;
    try {
      await this.#reserveMemory(version.memoryNeeded);
      try {
        const model = await TaskModel.load(
          task,
          version.path,
          this.#schedulingFor(settings),
          version,
        );
        await closeUnlessAble(task, model, version.path);
        return model;
      } finally {
        this.#reserved -= version.memoryNeeded;
        this.#libtorchBytes = 0;
        for (const resume of this.#waitingForMemory.splice(0)) resume();
      }
    } finally {
      const next = this.#queuedLoads.shift();
      if (next) next();
      else this.#loading--;
    }
  }

  /** Reserves memory for a load; waits for other loads if their reservation exceeds the budget. @throws ModelFileError */
  async #reserveMemory(needed: number): Promise<void> {
    for (;;) {
      const memory = await this.#readMemoryBudget();
      const required = needed + this.#libtorchBytes + this.#unusedCacheBytes();
      if (required + this.#reserved <= memory.availableBytes) break;
      if (this.#reserved === 0) throw new ModelFileError(describeMemoryShortage(required, memory));
      await new Promise<void>((resolve) => this.#waitingForMemory.push(resolve));
    }
    this.#reserved += needed;
  }

  /** Bytes by which the result cache, which all models share, can still grow. */
  #unusedCacheBytes(): number {
    const maximum = (this.#scheduling.resultCacheMb ?? 0) * 2 ** 20;
    if (maximum === 0) return 0;
    return Math.max(0, maximum - (this.models[0]?.monitor.stats().cacheBytes ?? 0));
  }

  #schedulingFor(settings: ModelJson): SchedulingOptions {
    const { dtype, max_queue_requests, max_queue_wait_ms, weight } = settings;
    return {
      ...this.#scheduling,
      dtype,
      weight,
      ...(max_queue_requests && { maxQueueRequests: max_queue_requests }),
      ...(max_queue_wait_ms && { maxQueueWaitMs: max_queue_wait_ms }),
    };
  }
}

/** @throws ModelFileError: model.json names an ability that the model lacks */
async function closeUnlessAble(task: Task, model: TaskModel, modelPath: string): Promise<void> {
  try {
    requireAbilities(toServedModel('', task, modelPath, model));
  } catch (error) {
    await model.close();
    throw error;
  }
}
