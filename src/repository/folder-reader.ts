import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { ModelFileError } from '../models/files';
import type { Dtype } from '../native/engine';
import type { GuardSource } from '../tasks/guard/guard-state';
import type { MemoryBudget } from './memory-budget';
import type { ModelFolder } from './read-folder';
import type { FolderListing } from './repository-paths';

/** Start data of the reader thread. */
export interface ReaderData {
  /** Absolute paths of model repositories, model folders and model files. */
  readonly paths: readonly string[];
  /** Private folder of the thread for unpacked archives. */
  readonly unpackInto: string;
  /** Number format of text models without `dtype` in model.json. */
  readonly dtype: Dtype;
  /** See `readGuardPolicy`. */
  readonly guardFile: string | null;
}

/** Message to the reader thread. */
export interface ReadRequest {
  readonly id: number;
  readonly action:
    | 'list'
    | 'folder stamps'
    | 'model'
    | 'memory budget'
    | 'remove unpacked'
    | 'guard'
    | 'guard stamp';
  /** Name of a model; empty for other actions. */
  readonly name: string;
}

/** Message from the reader thread: the result, or the message of a ModelFileError. */
export interface ReadReply {
  readonly id: number;
  readonly content: unknown;
  readonly problem: string | null;
}

/** Reads a model repository on a separate thread: a slow volume does not block the event loop. */
export class FolderReader {
  readonly #data: Omit<ReaderData, 'unpackInto'>;
  readonly #onFailure: (error: Error) => void;
  /** Null after an unexpected error, until the next request. */
  #worker: Worker | null = null;
  /** Requests without a reply, by id. */
  readonly #pending = new Map<number, (reply: Omit<ReadReply, 'id'>) => void>();
  #lastId = 0;
  /** Private folders of all threads for unpacked archives. */
  readonly #unpackInto: string[] = [];
  readonly #clean = (): void => {
    for (const folder of this.#unpackInto) rmSync(folder, { recursive: true, force: true });
  };

  /** @param onFailure called with an error that ended the thread; the next request starts a new thread */
  constructor(data: Omit<ReaderData, 'unpackInto'>, onFailure: (error: Error) => void) {
    process.once('exit', this.#clean);
    this.#data = data;
    this.#onFailure = onFailure;
    this.#worker = this.#start();
  }

  /** @throws ModelFileError: the repository cannot be read */
  async list(): Promise<FolderListing> {
    return (await this.#request('list')) as FolderListing;
  }

  /** @returns null: the model folder is missing. @throws ModelFileError */
  async read(name: string): Promise<ModelFolder | null> {
    return (await this.#request('model', name)) as ModelFolder | null;
  }

  /** Stamps of all model folders, by name. @throws ModelFileError */
  async folderStamps(): Promise<Readonly<Record<string, string>>> {
    return (await this.#request('folder stamps')) as Readonly<Record<string, string>>;
  }

  /** Reads GUARD_FILE, or `guard.json` of the repository. */
  async readGuardPolicy(): Promise<GuardSource> {
    return (await this.#request('guard')) as GuardSource;
  }

  /** Stamp that changes with the guardrail policy; empty: no policy. */
  async guardPolicyStamp(): Promise<string> {
    return (await this.#request('guard stamp')) as string;
  }

  async readMemoryBudget(): Promise<MemoryBudget> {
    return (await this.#request('memory budget')) as MemoryBudget;
  }

  /** Removes the unpacked archives of a model. */
  async removeUnpacked(name: string): Promise<void> {
    await this.#request('remove unpacked', name);
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    process.off('exit', this.#clean);
    const remove = (folder: string) => rm(folder, { recursive: true, force: true });
    await Promise.all(this.#unpackInto.map(remove));
  }

  #start(): Worker {
    const unpackInto = path.join(tmpdir(), `libtorch-serve-${randomUUID()}`);
    this.#unpackInto.push(unpackInto);
    const workerData: ReaderData = { ...this.#data, unpackInto };
    const worker = new Worker(path.join(__dirname, 'folder-reader-thread.js'), { workerData });
    worker.unref();
    worker.on('message', ({ id, ...reply }: ReadReply) => {
      this.#pending.get(id)?.(reply);
      this.#pending.delete(id);
    });
    worker.on('error', (error) => {
      this.#worker = null;
      this.#onFailure(error);
      const problem = 'cannot be read: an unexpected error, see the log of the service';
      for (const settle of this.#pending.values()) settle({ content: null, problem });
      this.#pending.clear();
    });
    return worker;
  }

  async #request(action: ReadRequest['action'], name = ''): Promise<unknown> {
    const id = ++this.#lastId;
    const { content, problem } = await new Promise<Omit<ReadReply, 'id'>>((resolve) => {
      this.#pending.set(id, resolve);
      this.#worker ??= this.#start();
      this.#worker.postMessage({ id, action, name } satisfies ReadRequest);
    });
    if (problem !== null) throw new ModelFileError(problem);
    return content;
  }
}
