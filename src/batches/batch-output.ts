import { rm, stat } from 'node:fs/promises';
import { type Checkpoint, EMPTY_CHECKPOINT, readJournal } from '../files/journal/journal';
import { ignoreNotFound, type OutputPaths, partialPath } from '../files/journal/output-paths';
import { type Destination, openFileDestination } from '../files/writers/destination';
import type { BatchStore } from './batch-store';
import { type FileStore, publishContent } from './file-store';
import { type BatchRecord, FILE_MODE } from './records';
import type { RequestResult } from './run-request';

/** Format of the journals; a journal of another format belongs to another version. */
const JOURNAL_FORMAT = 'batch 1';
/** Entry of `Checkpoint.labels` with the number of requests that have not run before the end of the window. */
const EXPIRED = 'expired';

interface Stores {
  readonly files: FileStore;
  readonly batches: BatchStore;
}

/** Output file and error file of a running batch, with the journal of their checkpoints. */
export class BatchOutput {
  readonly #id: string;
  readonly #paths: OutputPaths;
  readonly #stores: Stores;
  /** Null: all results are written. */
  readonly #destination: Destination | null;
  #last: Checkpoint;

  private constructor(
    id: string,
    paths: OutputPaths,
    stores: Stores,
    { destination, last }: { readonly destination: Destination | null; readonly last: Checkpoint },
  ) {
    this.#id = id;
    this.#paths = paths;
    this.#stores = stores;
    this.#destination = destination;
    this.#last = last;
    this.#updateCounts();
  }

  /** Opens the files. After an interruption, removes the results after the last checkpoint. @throws UsageError */
  static async open(
    { id, outputFileId, errorFileId }: BatchRecord,
    stores: Stores,
  ): Promise<BatchOutput> {
    const { files, batches } = stores;
    const paths = {
      output: files.contentPath(outputFileId),
      rejects: files.contentPath(errorFileId),
      journal: batches.journalPath(id),
    };
    const journal = await readJournal(paths.journal, JOURNAL_FORMAT);
    const last = journal?.last ?? EMPTY_CHECKPOINT;
    if (last.finished) return new BatchOutput(id, paths, stores, { destination: null, last });
    const before = await partialBytes(paths);
    const header = { version: JOURNAL_FORMAT, options: {}, model: [], inputs: [], columns: null };
    const destination = await openFileDestination(paths, header, journal, FILE_MODE);
    files.release(before - last.outputBytes - last.rejectsBytes);
    return new BatchOutput(id, paths, stores, { destination, last });
  }

  /** Number of requests whose results are written. */
  get requests(): number {
    return this.#last.rows;
  }

  /** Whether requests have not run before the end of the completion window, also in an earlier process. */
  get hasExpired(): boolean {
    return this.#expired > 0;
  }

  get #expired(): number {
    return this.#last.labels[EXPIRED] ?? 0;
  }

  /**
   * Writes the results of a chunk.
   *
   * @param end number of requests of the input up to the end of the chunk
   * @throws ServiceError STORAGE_FULL: nothing was written; RunError: the disk is full or cannot be written
   */
  async write(results: readonly RequestResult[], end: number): Promise<void> {
    const succeeded = results.filter(({ isSuccess }) => isSuccess);
    const failed = results.filter(({ isSuccess }) => !isSuccess);
    const expired = this.#expired + results.filter(({ isExpired }) => isExpired).length;
    const output = Buffer.concat(succeeded.map(({ line }) => line));
    const rejects = Buffer.concat(failed.map(({ line }) => line));
    this.#stores.files.reserve(output.length + rejects.length);
    await this.#append(output, rejects, {
      ...this.#last,
      rows: end,
      answered: this.#last.answered + succeeded.length,
      rejected: this.#last.rejected + failed.length,
      labels: { [EXPIRED]: expired },
    });
    const { written } = this.#stores.batches;
    written.completed += succeeded.length;
    written.failed += failed.length;
    this.#updateCounts();
  }

  /** Records that the results are complete, and closes the files. @throws RunError */
  async finish(): Promise<void> {
    if (!this.#destination) return;
    const nothing = Buffer.alloc(0);
    await this.#append(nothing, nothing, { ...this.#last, finished: true });
    await this.close();
  }

  async close(): Promise<void> {
    await this.#destination?.close();
  }

  /** Gives the files their names. Idempotent. @returns which of them exist; empty files do not */
  async publish(): Promise<Pick<BatchRecord, 'hasOutput' | 'hasErrors'>> {
    const { output, rejects } = this.#paths;
    const { outputBytes, rejectsBytes } = this.#last;
    return {
      hasOutput: await publishContent(partialPath(output), output, outputBytes),
      hasErrors: await publishContent(partialPath(rejects), rejects, rejectsBytes),
    };
  }

  /** Sizes of the files in bytes. */
  get bytes(): { readonly output: number; readonly errors: number } {
    return { output: this.#last.outputBytes, errors: this.#last.rejectsBytes };
  }

  /** Removes the journal of an ended batch. */
  removeJournal(): Promise<void> {
    return rm(this.#paths.journal, { force: true });
  }

  async #append(output: Buffer, rejects: Buffer, next: Checkpoint): Promise<void> {
    await this.#destination?.append(output, rejects, next);
    const { outputBytes, rejectsBytes } = this.#last;
    this.#last = {
      ...next,
      outputBytes: outputBytes + output.length,
      rejectsBytes: rejectsBytes + rejects.length,
    };
  }

  #updateCounts(): void {
    const { batches } = this.#stores;
    const { answered: completed, rejected: failed } = this.#last;
    const { counts } = batches.find(this.#id, null) as BatchRecord;
    batches.update(this.#id, { counts: { ...counts, completed, failed } });
  }
}

/** Removes what a batch has written that cannot be completed. */
export async function discardOutput(
  { id, outputFileId, errorFileId }: BatchRecord,
  { files, batches }: Stores,
): Promise<void> {
  const paths = {
    output: files.contentPath(outputFileId),
    rejects: files.contentPath(errorFileId),
  };
  files.release(await partialBytes(paths));
  await rm(partialPath(paths.output), { force: true });
  await rm(partialPath(paths.rejects), { force: true });
  await rm(batches.journalPath(id), { force: true });
}

/** Size of the unpublished files. */
async function partialBytes({ output, rejects }: Omit<OutputPaths, 'journal'>): Promise<number> {
  const stats = await Promise.all(
    [output, rejects].map((file) => stat(partialPath(file)).catch(ignoreNotFound)),
  );
  return stats.reduce((sum, one) => sum + (one?.size ?? 0), 0);
}
