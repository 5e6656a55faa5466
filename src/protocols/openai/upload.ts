import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { FileStore, SpooledFile } from '../../batches/file-store';
import { ServiceError } from '../../serving/errors';
import type { ServiceRequest } from '../../serving/service-request';

/** Limits of a form in addition to its file. */
const LIMITS = { files: 1, fields: 8, parts: 9, fieldSize: 256, headerPairs: 16, headerSize: 4096 };
/** Size of a form without its file, in bytes. */
const MAX_FORM_BYTES = 64 * 1024;

/** A received form. */
export interface Upload {
  readonly file: SpooledFile;
  /** Name of the file without folders; empty: the form has none. */
  readonly filename: string;
  /** Values of the other fields. */
  readonly fields: ReadonlyMap<string, string>;
}

/**
 * Receives a multipart form, and writes its field `file` to disk while it arrives. The caller commits or discards the
 * file.
 *
 * @throws ServiceError MEDIA_TYPE_UNSUPPORTED, BODY_INVALID, BODY_TOO_LARGE, STORAGE_FULL, CANCELLED
 */
export async function receiveUpload(call: ServiceRequest, store: FileStore): Promise<Upload> {
  const type = requireMultipart(call);
  const body = call.body as Readable;
  store.requireCapacity(0);
  const form = new Form(type, store);
  try {
    await form.read(body);
    return await form.complete();
  } catch (error) {
    await form.discard();
    throw error;
  }
}

function requireMultipart(call: ServiceRequest): string {
  const encoding = call.header('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    const message = 'The Content-Encoding of a file upload must be identity.';
    throw new ServiceError('MEDIA_TYPE_UNSUPPORTED', message);
  }
  const type = call.header('content-type') ?? '';
  if (/^multipart\/form-data\s*;/i.test(type) && /boundary=/i.test(type)) return type;
  const message = 'The Content-Type must be multipart/form-data with a boundary.';
  throw new ServiceError('MEDIA_TYPE_UNSUPPORTED', message);
}

/** Parser of one form. */
class Form {
  readonly #parser: BusboyInstance;
  readonly #fields = new Map<string, string>();
  readonly #store: FileStore;
  #filename = '';
  /** Content of the file; null: not received yet. */
  #stream: Readable | null = null;
  #file: Promise<SpooledFile> | null = null;
  /** The first error; the rest of the body is not read. */
  #error: Error | null = null;
  #onError: () => void = () => {};
  /** Resolves at the first error. */
  readonly #failed = new Promise<void>((resolve) => {
    this.#onError = resolve;
  });

  constructor(type: string, store: FileStore) {
    this.#store = store;
    this.#parser = createParser(type);
    this.#parser.on('file', (name, stream, filename) => this.#beginFile(name, stream, filename));
    this.#parser.on('field', (name, value, _, isTruncated) => {
      if (isTruncated) this.#fail(invalid(`a field exceeds ${LIMITS.fieldSize} bytes`));
      else this.#fields.set(name, value);
    });
    for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
      this.#parser.on(event, () => this.#fail(invalid('expected one file and at most 8 fields')));
    }
    this.#parser.on('error', () => this.#fail(invalid('is not a valid multipart form')));
  }

  async read(body: Readable): Promise<void> {
    const { fileLimit } = this.#store.limits;
    let bytes = 0;
    try {
      for await (const chunk of body.iterator({ destroyOnReturn: false })) {
        bytes += (chunk as Buffer).length;
        if (bytes > fileLimit + MAX_FORM_BYTES) this.#fail(tooLarge(fileLimit));
        if (this.#error) return;
        if (this.#parser.write(chunk)) continue;
        await Promise.race([once(this.#parser, 'drain'), this.#failed]);
      }
    } catch {
      this.#fail(new ServiceError('CANCELLED', 'The client disconnected.'));
    }
  }

  /** @throws the first error */
  async complete(): Promise<Upload> {
    if (!this.#error) {
      const finished = once(this.#parser, 'finish');
      this.#parser.end();
      await Promise.race([finished, this.#failed]);
    }
    if (this.#error) throw this.#error;
    if (!this.#file) throw invalid('file: is required');
    const file = await this.#file;
    return { file, filename: this.#filename, fields: this.#fields };
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    this.#parser.destroy();
    this.#stream?.destroy(new Error('the form is invalid'));
    const file = await this.#file?.catch(() => null);
    if (file) await this.#store.discard(file);
  }

  #beginFile(name: string, stream: Readable, filename: string | undefined): void {
    // The parser emits the error of an incomplete form here, without destroying the stream.
    stream.on('error', (error) => stream.destroy(error));
    this.#stream = stream;
    if (name !== 'file') {
      stream.resume();
      this.#fail(invalid('expected the file in the field "file"'));
      return;
    }
    this.#filename = filename ?? '';
    this.#file = this.#store.spool(stream);
    this.#file.catch((error) => this.#fail(error));
  }

  #fail(error: Error): void {
    this.#error ??= error;
    this.#onError();
  }
}

/** @throws ServiceError BODY_INVALID: the boundary is missing or malformed */
function createParser(type: string): BusboyInstance {
  try {
    return new Busboy({ headers: { 'content-type': type }, limits: LIMITS });
  } catch {
    throw invalid('Content-Type: expected a valid boundary');
  }
}

function invalid(problem: string): ServiceError {
  const message = /^[a-z_]+: |^Content/.test(problem) ? problem : `body: ${problem}`;
  return new ServiceError('BODY_INVALID', message);
}

function tooLarge(limit: number): ServiceError {
  return new ServiceError(
    'BODY_TOO_LARGE',
    `file: exceeds the limit of ${limit} bytes (FILE_LIMIT). Split the file`,
  );
}
