import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import { ServiceError } from '../serving/errors';
import { describeWriteError } from './file-store';
import { isBatchId, newId } from './ids';
import { RecordFolder } from './record-folder';
import {
  type BatchRecord,
  type BatchStatus,
  batchRecordSchema,
  canSee,
  isEnded,
  type Viewer,
} from './records';

/** Time in which a batch must complete, in ms: the completion window `24h`. */
const WINDOW_MS = 24 * 3600 * 1000;

/** Limits of batches, from the settings of the same names. */
export interface BatchLimits {
  /** Maximum number of unfinished batches. */
  readonly maxBatches: number;
  /** Maximum number of ended batches that are kept. */
  readonly maxFiles: number;
}

/** A batch as a client creates it. */
export type NewBatch = Pick<
  BatchRecord,
  'owner' | 'endpoint' | 'inputFileId' | 'completionWindow' | 'metadata' | 'outputExpiresAfter'
>;

/** Records of batches in FILES_DIR. */
export class BatchStore {
  readonly limits: BatchLimits;
  /** Results that this process has written, for the metrics. */
  readonly written = { completed: 0, failed: 0 };
  readonly #folder: RecordFolder<BatchRecord>;
  /** In order of creation. */
  readonly #records = new Map<string, BatchRecord>();

  private constructor(folder: RecordFolder<BatchRecord>, limits: BatchLimits) {
    this.#folder = folder;
    this.limits = limits;
  }

  static async open(directory: string, limits: BatchLimits, logger: Logger): Promise<BatchStore> {
    const folder = new RecordFolder(path.join(directory, 'batches'), batchRecordSchema);
    const store = new BatchStore(folder, limits);
    const { names, records } = await folder.read(isBatchId, logger);
    for (const record of records.toSorted((a, b) => a.createdAt - b.createdAt)) {
      store.#records.set(record.id, record);
    }
    await store.#removeJournals(names);
    return store;
  }

  /** Batches that a key sees, in order of creation. */
  list(viewer: Viewer): readonly BatchRecord[] {
    return [...this.#records.values()].filter((record) => canSee(viewer, record));
  }

  /** @returns null if there is no such batch, or the key does not see it */
  find(id: string, viewer: Viewer): BatchRecord | null {
    const record = this.#records.get(id);
    return record && canSee(viewer, record) ? record : null;
  }

  get unfinished(): readonly BatchRecord[] {
    return [...this.#records.values()].filter((record) => !isEnded(record));
  }

  /** Whether an unfinished batch reads this file. */
  isInput(fileId: string): boolean {
    return this.unfinished.some(({ inputFileId }) => inputFileId === fileId);
  }

  /** Path of the journal of a batch. */
  journalPath(id: string): string {
    if (!isBatchId(id)) throw new Error('expected the ID of a batch');
    return path.join(this.#folder.path, `${id}.journal`);
  }

  /** Checks the limit of unfinished batches. @throws ServiceError STORAGE_FULL */
  requireCapacity(): void {
    const { maxBatches } = this.limits;
    if (this.unfinished.length < maxBatches) return;
    const message = `The limit of ${maxBatches} unfinished batches (MAX_BATCHES) is reached. Wait until a batch has ended.`;
    throw new ServiceError('STORAGE_FULL', message);
  }

  /** Creates a batch. Call `requireCapacity` before. */
  async create(given: NewBatch): Promise<BatchRecord> {
    const createdAt = Date.now();
    const record: BatchRecord = {
      ...given,
      id: newId('batch_'),
      status: 'validating',
      outcome: null,
      outputFileId: newId('file-'),
      errorFileId: newId('file-'),
      hasOutput: false,
      hasErrors: false,
      counts: { total: 0, completed: 0, failed: 0 },
      problems: [],
      createdAt,
      expiresAt: createdAt + WINDOW_MS,
      times: {},
    };
    this.#records.set(record.id, record);
    try {
      await this.#folder.write(record);
    } catch (error) {
      this.#records.delete(record.id);
      throw describeWriteError(error as NodeJS.ErrnoException);
    }
    await this.#removeOldest();
    return this.#records.get(record.id) ?? record;
  }

  /** Changes a record in memory, for counts that the journal keeps. */
  update(id: string, change: Partial<BatchRecord>): BatchRecord {
    const record = { ...(this.#records.get(id) as BatchRecord), ...change };
    this.#records.set(id, record);
    return record;
  }

  /** Changes a record, and writes it to disk. */
  async save(id: string, change: Partial<BatchRecord>): Promise<BatchRecord> {
    const record = this.update(id, change);
    await this.#folder.write(record);
    return record;
  }

  /** Changes the status, and writes the record to disk. */
  setStatus(
    id: string,
    status: BatchStatus,
    change: Partial<BatchRecord> = {},
  ): Promise<BatchRecord> {
    const { times } = this.#records.get(id) as BatchRecord;
    return this.save(id, { ...change, status, times: { ...times, [status]: Date.now() } });
  }

  /** Resolves when all records are on disk. */
  flush(): Promise<void> {
    return this.#folder.flush();
  }

  /** Removes journals of ended batches: the process was interrupted after their end. @param names files of the folder */
  async #removeJournals(names: readonly string[]): Promise<void> {
    for (const { id } of [...this.#records.values()].filter(isEnded)) {
      const journal = this.journalPath(id);
      if (names.includes(path.basename(journal))) await rm(journal);
    }
  }

  async #removeOldest(): Promise<void> {
    const ended = [...this.#records.values()].filter(isEnded);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - this.limits.maxFiles))) {
      this.#records.delete(id);
      await this.#folder.remove(id);
    }
  }
}
