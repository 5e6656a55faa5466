import { access as checkAccess, constants, mkdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import { describeUnexpected } from '../native/unexpected-error';
import { Access, FULL_ACCESS, isUnlimited, type NamesOf } from '../serving/access';
import type { Credentials } from '../serving/credentials/credentials';
import { ServiceError } from '../serving/errors';
import type { Family } from '../serving/metrics/family';
import type { Readiness } from '../serving/readiness';
import type { ServiceRequest } from '../serving/service-request';
import type { Config } from '../settings/config';
import { batchMetrics } from './batch-metrics';
import { BatchRunner } from './batch-runner';
import { BatchStore, type NewBatch } from './batch-store';
import { DirectoryLock } from './directory-lock';
import { FileStore } from './file-store';
import { type BatchRecord, type FileRecord, FOLDER_MODE, type Viewer } from './records';
import type { Endpoint } from './run-request';

/** Length of a line in addition to its `body`, in bytes. */
const LINE_OVERHEAD_BYTES = 4096;

/** Maximum number of files that a batch writes: output file and error file. */
const RESULT_FILES = 2;

/** FILES_DIR cannot be used. */
export class FilesDirectoryError extends Error {
  override readonly name = 'FilesDirectoryError';
}

/** Parts of the server that batches need. */
export interface BatchServer {
  readonly credentials: Credentials;
  readonly namesOf: NamesOf;
  readonly readiness: Readiness;
}

type Settings = Pick<
  Config,
  | 'bodyLimit'
  | 'responseLimit'
  | 'fileLimit'
  | 'filesLimit'
  | 'maxFiles'
  | 'maxFileLines'
  | 'maxBatches'
>;

interface Parts {
  readonly lock: DirectoryLock;
  readonly files: FileStore;
  readonly batches: BatchStore;
}

/** Files and batches of OpenAI's API, in FILES_DIR. */
export class BatchService {
  readonly files: FileStore;
  readonly batches: BatchStore;
  readonly #lock: DirectoryLock;
  readonly #runner: BatchRunner;
  #endpoints: ReadonlyMap<string, Endpoint> = new Map();
  /** Null until `attach`. */
  #server: BatchServer | null = null;

  private constructor({ lock, files, batches }: Parts, settings: Settings, logger: Logger) {
    const { bodyLimit, maxFileLines, responseLimit } = settings;
    this.files = files;
    this.batches = batches;
    this.#lock = lock;
    const environment = {
      files,
      batches,
      limits: { maxLines: maxFileLines, maxLineBytes: bodyLimit + LINE_OVERHEAD_BYTES },
      responseLimit,
      endpointOf: (path: string) => this.#endpoints.get(path) ?? null,
      accessOf: (owner: string) => this.#accessOf(owner),
      readiness: () => this.#server?.readiness() ?? null,
      logUnexpected: (error: unknown) => {
        logger.error({ error: describeUnexpected(error) }, 'batch request failed');
      },
    };
    this.#runner = new BatchRunner(environment, logger);
  }

  /** Opens FILES_DIR and reads its records. @throws FilesDirectoryError */
  static async open(directory: string, settings: Settings, logger: Logger): Promise<BatchService> {
    const lock = await takeLock(directory);
    try {
      const batches = await BatchStore.open(directory, settings, logger);
      const outputs = batches.unfinished.flatMap(({ outputFileId, errorFileId }) => [
        outputFileId,
        errorFileId,
      ]);
      const files = await FileStore.open(directory, settings, new Set(outputs), logger);
      return new BatchService({ lock, files, batches }, settings, logger);
    } catch (error) {
      await lock.release();
      throw describeOpenError(directory, error as NodeJS.ErrnoException);
    }
  }

  /** Connects the server; call it before the ports are open. */
  attach(server: BatchServer): void {
    this.#server = server;
  }

  /** Starts unfinished batches; call it when the ports are open. */
  begin(): void {
    this.#runner.begin();
  }

  /** Replaces the routes that batches call, by path. */
  publish(endpoints: ReadonlyMap<string, Endpoint>): void {
    this.#endpoints = endpoints;
  }

  /** Paths that batches can call. */
  get endpoints(): readonly string[] {
    return [...this.#endpoints.keys()];
  }

  /** Whose files a request sees. */
  viewerOf({ owner }: Pick<ServiceRequest, 'owner'>): Viewer {
    return this.#server?.credentials.keys === null ? null : owner;
  }

  /** @throws ServiceError STORAGE_FULL: too many batches, or files including the results of unfinished batches */
  async create(batch: NewBatch): Promise<BatchRecord> {
    this.batches.requireCapacity();
    this.files.requireFiles(RESULT_FILES * (this.batches.unfinished.length + 1));
    const record = await this.batches.create(batch);
    this.#runner.wake();
    return record;
  }

  /** @throws ServiceError REQUEST_INVALID: the batch has ended */
  cancel(record: BatchRecord): Promise<BatchRecord> {
    return this.#runner.cancel(record);
  }

  /** @throws ServiceError CONFLICT: an unfinished batch reads the file */
  async deleteFile(record: FileRecord): Promise<void> {
    if (this.batches.isInput(record.id)) {
      const message = 'id: an unfinished batch reads this file. Cancel the batch first';
      throw new ServiceError('CONFLICT', message);
    }
    await this.files.remove(record);
  }

  families(): readonly Family[] {
    return batchMetrics(this.files, this.batches);
  }

  /** Interrupts running batches, and releases the directory. */
  async close(): Promise<void> {
    await this.#runner.close();
    await this.batches.flush();
    await this.files.flush();
    await this.#lock.release();
  }

  /** Current permissions of the key that created a batch. */
  #accessOf(owner: string): Access | null {
    if (!this.#server) return null;
    const { credentials, namesOf } = this.#server;
    if (!credentials.keys) return FULL_ACCESS;
    const digest = Buffer.from(owner, 'base64');
    const grant = owner === '' ? null : credentials.keys.findDigest(digest);
    if (grant === null) return null;
    return isUnlimited(grant) ? FULL_ACCESS : new Access(grant, namesOf);
  }
}

async function takeLock(directory: string): Promise<DirectoryLock> {
  let lock: DirectoryLock | null;
  try {
    await mkdir(directory, { recursive: true, mode: FOLDER_MODE });
    await checkAccess(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    lock = await DirectoryLock.take(directory);
  } catch (error) {
    throw describeOpenError(directory, error as NodeJS.ErrnoException);
  }
  if (lock) return lock;
  throw new FilesDirectoryError(
    `FILES_DIR: ${directory} is in use by another server. Set a different directory for each server`,
  );
}

function describeOpenError(directory: string, error: NodeJS.ErrnoException): Error {
  if (error.code === undefined) return error;
  return new FilesDirectoryError(
    `FILES_DIR: ${directory}: cannot be used (${error.code}). Set a directory that the server can write`,
  );
}
