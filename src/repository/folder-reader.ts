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
import type { FolderListing, ModelFolder } from './read-folder';
import { type Numbered, Questions, type Reply } from './worker-rpc';

/** What the thread is given. */
export interface ReaderData {
  readonly directory: string;
  /** A folder that is its own. */
  readonly unpackInto: string;
  /** Of text models whose model.json names none. */
  readonly dtype: Dtype;
  /** See `readGuard`. */
  readonly guardFile: string | null;
}

export interface Read extends Numbered {
  readonly what: 'list' | 'stamps' | 'model' | 'memory' | 'forget' | 'guard' | 'guard stamp';
  /** Of a model. */
  readonly name: string;
}

/** Reads a directory of models on a thread of its own: a slow volume does not block the event loop. */
export class FolderReader {
  readonly #data: Omit<ReaderData, 'unpackInto'>;
  readonly #onFailure: (error: Error) => void;
  /** Null: none has been needed since the last one ended with an error. */
  #worker: Worker | null = null;
  readonly #questions = new Questions<Read, unknown>(
    (question) => {
      this.#worker ??= this.#start();
      this.#worker.postMessage(question);
    },
    (problem) => new ModelFileError(problem),
  );
  /** Private folders below which archives are unpacked, one of each thread. */
  readonly #unpackInto: string[] = [];
  readonly #clean = (): void => {
    for (const folder of this.#unpackInto) rmSync(folder, { recursive: true, force: true });
  };

  /** @param onFailure called with an error that ended the thread; the next question starts another thread */
  constructor(data: Omit<ReaderData, 'unpackInto'>, onFailure: (error: Error) => void) {
    process.once('exit', this.#clean);
    this.#data = data;
    this.#onFailure = onFailure;
    this.#worker = this.#start();
  }

  /** @throws ModelFileError: the directory cannot be read */
  async list(): Promise<FolderListing> {
    return (await this.#read('list')) as FolderListing;
  }

  /** @returns null: there is no such folder. @throws ModelFileError */
  async read(name: string): Promise<ModelFolder | null> {
    return (await this.#read('model', name)) as ModelFolder | null;
  }

  /** By name, of all that lies in a folder. @throws ModelFileError */
  async folderStamps(): Promise<Readonly<Record<string, string>>> {
    return (await this.#read('stamps')) as Readonly<Record<string, string>>;
  }

  /** Of GUARD_FILE, or of the directory. */
  async readGuardPolicy(): Promise<GuardSource> {
    return (await this.#read('guard')) as GuardSource;
  }

  /** Something that changes with it; empty: there is none. */
  async guardPolicyStamp(): Promise<string> {
    return (await this.#read('guard stamp')) as string;
  }

  async readMemoryBudget(): Promise<MemoryBudget> {
    return (await this.#read('memory')) as MemoryBudget;
  }

  /** Frees what archives of the folder were unpacked into. */
  async removeUnpacked(name: string): Promise<void> {
    await this.#read('forget', name);
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
    worker.on('message', (reply: Reply<unknown>) => this.#questions.answered(reply));
    worker.on('error', (error) => {
      this.#worker = null;
      this.#onFailure(error);
      this.#questions.rejectAll('cannot be read: an unexpected error, see the log of the service');
    });
    return worker;
  }

  #read(what: Read['what'], name = ''): Promise<unknown> {
    return this.#questions.ask({ what, name });
  }
}
