import { ModelFileError } from '../models/files';
import type { SchedulingOptions } from '../native/engine';
import type { Task } from '../tasks/task';
import { TaskModel } from '../tasks/task-model';
import { describeMemoryShortage, type MemoryBudget } from './memory-budget';
import type { ModelJson } from './model-json';
import type { ReadableVersion } from './read-folder';

/** Models that load at the same time: one that takes long, or never comes back, leaves room for others. */
const MAX_CONCURRENT_LOADS = 2;

/** What LibTorch takes itself, in bytes. */
const LIBTORCH_BYTES = 128 * 2 ** 20;

interface Loaded {
  readonly model: Promise<TaskModel>;
  users: number;
}

/** The models in memory, each once: the same files under two names are one, and share a queue. */
export class LoadedModels {
  readonly #scheduling: SchedulingOptions;
  /** By fingerprint. */
  readonly #loaded = new Map<string, Loaded>();
  readonly #ready = new Map<TaskModel, string>();
  readonly #waiting: (() => void)[] = [];
  #loading = 0;
  readonly #memoryLeft: () => Promise<MemoryBudget>;
  /** Bytes that those need which are being loaded: they may have taken none of them yet. */
  #promised = 0;
  /** It is opened with the first model. */
  #unopened = LIBTORCH_BYTES;
  readonly #waitingForMemory: (() => void)[] = [];

  constructor(scheduling: SchedulingOptions, memoryLeft: () => Promise<MemoryBudget>) {
    this.#scheduling = scheduling;
    this.#memoryLeft = memoryLeft;
  }

  get models(): readonly TaskModel[] {
    return [...this.#ready.keys()];
  }

  /** To be given back with `give`. @throws ModelFileError, EngineError */
  async acquire(task: Task, found: ReadableVersion, settings: ModelJson): Promise<TaskModel> {
    const { fingerprint } = found;
    const known = this.#loaded.get(fingerprint);
    if (known) {
      known.users++;
      return known.model;
    }
    const model = this.#load(task, found, settings);
    this.#loaded.set(fingerprint, { model, users: 1 });
    try {
      this.#ready.set(await model, fingerprint);
    } catch (error) {
      this.#loaded.delete(fingerprint);
      throw error;
    }
    return model;
  }

  /** Resolves when what it had accepted is answered, where nobody else uses it. */
  async release(model: TaskModel): Promise<void> {
    const fingerprint = this.#ready.get(model) as string;
    const loaded = this.#loaded.get(fingerprint) as Loaded;
    loaded.users--;
    if (loaded.users > 0) return;
    this.#loaded.delete(fingerprint);
    this.#ready.delete(model);
    await model.close();
  }

  async close(): Promise<void> {
    await Promise.all(this.models.map((model) => model.close()));
  }

  async #load(task: Task, found: ReadableVersion, settings: ModelJson): Promise<TaskModel> {
    if (this.#loading >= MAX_CONCURRENT_LOADS)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#loading++;
    try {
      await this.#promiseMemory(found.memoryNeeded);
      try {
        return await TaskModel.load(task, found.path, this.#schedulingFor(settings), found);
      } finally {
        this.#promised -= found.memoryNeeded;
        this.#unopened = 0;
        for (const look of this.#waitingForMemory.splice(0)) look();
      }
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#loading--;
    }
  }

  /** Waits for those that are being loaded, where it fits only without them. @throws ModelFileError */
  async #promiseMemory(needed: number): Promise<void> {
    for (;;) {
      const memory = await this.#memoryLeft();
      const alone = needed + this.#unopened + this.#cacheToCome();
      if (alone + this.#promised <= memory.availableBytes) break;
      if (this.#promised === 0) throw new ModelFileError(describeMemoryShortage(alone, memory));
      await new Promise<void>((resolve) => this.#waitingForMemory.push(resolve));
    }
    this.#promised += needed;
  }

  /** Bytes that the answers of all models, which are kept in one place, may still come to. */
  #cacheToCome(): number {
    const most = (this.#scheduling.resultCacheMb ?? 0) * 2 ** 20;
    if (most === 0) return 0;
    return Math.max(0, most - (this.models[0]?.monitor.stats().cacheBytes ?? 0));
  }

  #schedulingFor(settings: ModelJson): SchedulingOptions {
    const { dtype, max_queue_requests, max_queue_wait_ms, weight } = settings;
    return {
      ...this.#scheduling,
      dtype,
      share: weight,
      ...(max_queue_requests && { maxQueueRequests: max_queue_requests }),
      ...(max_queue_wait_ms && { maxQueueWaitMs: max_queue_wait_ms }),
    };
  }
}
