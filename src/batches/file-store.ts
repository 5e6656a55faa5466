import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Logger } from 'pino';
import { ignoreNotFound, syncParentFolder } from '../files/journal/output-paths';
import { ServiceError } from '../serving/errors';
import { isFileId, newId } from './ids';
import { RecordFolder } from './record-folder';
import { canSee, FILE_MODE, type FileRecord, fileRecordSchema, type Viewer } from './records';

/** Limits of the files, from the settings of the same names. */
export interface FileLimits {
  /** Maximum size of an uploaded file, in bytes. */
  readonly fileLimit: number;
  /** Maximum size of all files, in bytes. */
  readonly filesLimit: number;
  readonly maxFiles: number;
}

/** Content of a file that is not visible yet. */
export interface SpooledFile {
  readonly id: string;
  readonly bytes: number;
}

const CONTENT = '.jsonl';
/** Maximum numbers of simultaneous uploads and downloads, each of which needs a file descriptor. */
const MAX_UPLOADS = 64;
const MAX_DOWNLOADS = 256;

/**
 * Files of FILES_DIR: `ID.jsonl` is the content and `ID.json` its record. A file exists while its record exists: contents
 * without a record are the rest of an interrupted upload.
 */
export class FileStore {
  readonly limits: FileLimits;
  readonly #folder: RecordFolder<FileRecord>;
  /** In order of creation. */
  readonly #records = new Map<string, FileRecord>();
  /** Total size of all contents, including unfinished uploads and outputs, in bytes. */
  #bytes = 0;
  #uploads = 0;
  #downloads = 0;

  private constructor(folder: RecordFolder<FileRecord>, limits: FileLimits) {
    this.#folder = folder;
    this.limits = limits;
  }

  /** @param outputs IDs of the outputs of unfinished batches, whose contents have no record yet */
  static async open(
    directory: string,
    limits: FileLimits,
    outputs: ReadonlySet<string>,
    logger: Logger,
  ): Promise<FileStore> {
    const folder = new RecordFolder(path.join(directory, 'files'), fileRecordSchema);
    const store = new FileStore(folder, limits);
    const { names, records } = await folder.read(isFileId, logger);
    for (const record of records.toSorted((a, b) => a.createdAt - b.createdAt)) {
      store.#records.set(record.id, record);
    }
    for (const name of names) {
      const [id = '', ...rest] = name.split('.');
      if (!isFileId(id) || !rest.includes('jsonl')) continue;
      // A content next to an invalid record is not removed: the record may be repaired.
      if (!outputs.has(id) && !names.includes(`${id}.json`)) await rm(path.join(folder.path, name));
      else store.#bytes += (await stat(path.join(folder.path, name))).size;
    }
    return store;
  }

  /** Total size of all contents in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#records.size;
  }

  /** Files that a key sees, in order of creation. */
  list(viewer: Viewer): readonly FileRecord[] {
    const now = Date.now();
    return [...this.#records.values()].filter(
      (record) => canSee(viewer, record) && !isExpired(record, now),
    );
  }

  /** @returns null if there is no such file, or the key does not see it */
  find(id: string, viewer: Viewer): FileRecord | null {
    const record = this.#records.get(id);
    return record && canSee(viewer, record) && !isExpired(record, Date.now()) ? record : null;
  }

  /** Path of a content. @param id valid ID */
  contentPath(id: string): string {
    if (!isFileId(id)) throw new Error('expected the ID of a file');
    return path.join(this.#folder.path, id + CONTENT);
  }

  /**
   * Returns a function that opens the content of a file.
   *
   * @throws ServiceError BODY_MEMORY_FULL: too many downloads
   */
  reader({ id }: FileRecord): () => Readable {
    if (this.#downloads >= MAX_DOWNLOADS) throw tooMany(`${MAX_DOWNLOADS} downloads`);
    return () => {
      this.#downloads++;
      return createReadStream(this.contentPath(id)).once('close', () => this.#downloads--);
    };
  }

  /**
   * Writes the content of an upload to disk. Pass the result to `commit` or `discard`.
   *
   * @throws ServiceError STORAGE_FULL, BODY_TOO_LARGE; then nothing remains on disk
   */
  async spool(source: Readable): Promise<SpooledFile> {
    this.requireCapacity(0);
    const id = newId('file-');
    const file = this.contentPath(id);
    let bytes = 0;
    const counted = async function* (this: FileStore): AsyncGenerator<Buffer> {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        this.#requireFileSize(bytes + chunk.length);
        this.reserve(chunk.length);
        bytes += chunk.length;
        yield chunk;
      }
    };
    this.#uploads++;
    try {
      await pipeline(
        counted.call(this),
        createWriteStream(file, { flags: 'wx', mode: FILE_MODE, flush: true }),
      );
      return { id, bytes };
    } catch (error) {
      this.#uploads--;
      await rm(file, { force: true });
      this.release(bytes);
      throw describeWriteError(error as NodeJS.ErrnoException);
    }
  }

  /** Makes an upload visible. */
  async commit(
    { id, bytes }: SpooledFile,
    { owner, filename, purpose, expiresAt }: Omit<FileRecord, 'id' | 'bytes' | 'createdAt'>,
  ): Promise<FileRecord> {
    const record = { id, owner, bytes, createdAt: Date.now(), expiresAt, filename, purpose };
    try {
      await syncParentFolder(this.contentPath(id));
      await this.#folder.write(record);
    } catch (error) {
      await this.discard({ id, bytes });
      throw describeWriteError(error as NodeJS.ErrnoException);
    }
    this.#uploads--;
    this.#records.set(id, record);
    return record;
  }

  async discard({ id, bytes }: SpooledFile): Promise<void> {
    this.#uploads--;
    await rm(this.contentPath(id), { force: true });
    this.release(bytes);
  }

  /** Makes the output of a batch visible, whose content exists and is counted. Idempotent. */
  async adopt(record: FileRecord): Promise<void> {
    await this.#folder.write(record);
    this.#records.set(record.id, record);
  }

  /** Deletes a file. Running downloads of it continue. */
  async remove({ id, bytes }: FileRecord): Promise<void> {
    if (!this.#records.delete(id)) return; // already deleted by another request
    await this.#folder.remove(id);
    await rm(this.contentPath(id), { force: true });
    this.release(bytes);
  }

  /** Deletes expired files. @param isInUse files that an unfinished batch reads */
  async removeExpired(isInUse: (id: string) => boolean): Promise<void> {
    const now = Date.now();
    for (const record of [...this.#records.values()]) {
      if (isExpired(record, now) && !isInUse(record.id)) await this.remove(record);
    }
  }

  /** Counts bytes that are about to be written. @throws ServiceError STORAGE_FULL */
  reserve(bytes: number): void {
    this.#requireBytes(bytes);
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }

  /**
   * Checks the limits before an upload is read.
   *
   * @param bytes declared size; 0: unknown
   * @throws ServiceError STORAGE_FULL, BODY_TOO_LARGE; BODY_MEMORY_FULL: too many uploads
   */
  requireCapacity(bytes: number): void {
    if (this.#uploads >= MAX_UPLOADS) throw tooMany(`${MAX_UPLOADS} uploads`);
    this.requireFiles(1);
    this.#requireFileSize(bytes);
    this.#requireBytes(bytes);
  }

  /** Checks the limit of files. @param added number of files to add @throws ServiceError STORAGE_FULL */
  requireFiles(added: number): void {
    const { maxFiles } = this.limits;
    if (this.#records.size + this.#uploads + added <= maxFiles) return;
    const message = `The limit of ${maxFiles} files (MAX_FILES) would be exceeded. Delete files.`;
    throw new ServiceError('STORAGE_FULL', message);
  }

  /** Resolves when all records are on disk. */
  flush(): Promise<void> {
    return this.#folder.flush();
  }

  #requireFileSize(bytes: number): void {
    const { fileLimit } = this.limits;
    if (bytes <= fileLimit) return;
    const message = `file: exceeds the limit of ${fileLimit} bytes (FILE_LIMIT). Split the file`;
    throw new ServiceError('BODY_TOO_LARGE', message);
  }

  #requireBytes(bytes: number): void {
    const { filesLimit } = this.limits;
    if (this.#bytes + bytes <= filesLimit) return;
    const message = `file: all files would exceed the limit of ${filesLimit} bytes (FILES_LIMIT). Delete files`;
    throw new ServiceError('STORAGE_FULL', message);
  }
}

/**
 * Gives a partial content its final name; without bytes, removes it. Idempotent.
 *
 * @returns whether the content exists
 */
export async function publishContent(
  partial: string,
  file: string,
  bytes: number,
): Promise<boolean> {
  if (bytes === 0) {
    await rm(partial, { force: true });
    return false;
  }
  await rename(partial, file).catch(ignoreNotFound);
  await syncParentFolder(file);
  const handle = await open(file, 'r'); // fails if neither of them exists
  await handle.close();
  return true;
}

function tooMany(limit: string): ServiceError {
  return new ServiceError('BODY_MEMORY_FULL', `At most ${limit} at a time. Try again later.`);
}

function isExpired({ expiresAt }: FileRecord, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** The error of a full disk, for clients; other errors stay as they are. */
export function describeWriteError(error: NodeJS.ErrnoException): Error {
  if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') return error;
  return new ServiceError('STORAGE_FULL', 'The disk of FILES_DIR is full. Delete files.');
}
