import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { ignoreNotFound, partialPath, writeFileAtomically } from '../files/journal/output-paths';
import { FILE_MODE, FOLDER_MODE } from './records';

/** Maximum size of a record in bytes: an ended batch with 100 problems. */
const MAX_RECORD_BYTES = 1024 ** 2;

/** Records as JSON files `ID.json` of a folder. Each write is atomic; writes of a record happen in call order. */
export class RecordFolder<Record extends { readonly id: string }> {
  readonly path: string;
  readonly #schema: z.ZodType<Record>;
  /** Last write of each record that is being written. */
  readonly #writes = new Map<string, Promise<void>>();

  constructor(folder: string, schema: z.ZodType<Record>) {
    this.path = folder;
    this.#schema = schema;
  }

  /**
   * Creates the folder, or reads all records and removes the rest of interrupted writes.
   *
   * @param isId IDs of this folder; other files are ignored
   * @returns names of all files, and the valid records. An invalid record is logged and stays as it is
   */
  async read(
    isId: (id: string) => boolean,
    logger: Logger,
  ): Promise<{ readonly names: readonly string[]; readonly records: readonly Record[] }> {
    await mkdir(this.path, { recursive: true, mode: FOLDER_MODE });
    const names = await readdir(this.path);
    const records: Record[] = [];
    for (const name of names) {
      const id = name.slice(0, name.indexOf('.'));
      if (!isId(id)) continue;
      if (name === partialPath(`${id}.json`)) await rm(path.join(this.path, name));
      if (name !== `${id}.json`) continue;
      const record = await this.#readOne(id);
      if (record) records.push(record);
      else logger.warn({ file: name }, 'invalid record in FILES_DIR');
    }
    return { names, records };
  }

  /** Writes a record to disk. */
  write(record: Record): Promise<void> {
    return this.#inOrder(record.id, () =>
      writeFileAtomically(this.#fileOf(record.id), JSON.stringify(record), FILE_MODE),
    );
  }

  remove(id: string): Promise<void> {
    return this.#inOrder(id, () => rm(this.#fileOf(id), { force: true }));
  }

  /** Resolves when all writes are on disk. */
  async flush(): Promise<void> {
    await Promise.allSettled(this.#writes.values());
  }

  #inOrder(id: string, write: () => Promise<void>): Promise<void> {
    const written = (this.#writes.get(id) ?? Promise.resolve()).catch(() => {}).then(write);
    this.#writes.set(id, written);
    const forget = (): void => {
      if (this.#writes.get(id) === written) this.#writes.delete(id);
    };
    written.then(forget, forget);
    return written;
  }

  #fileOf(id: string): string {
    return path.join(this.path, `${id}.json`);
  }

  async #readOne(id: string): Promise<Record | null> {
    const text = await readFile(this.#fileOf(id)).catch(ignoreNotFound);
    if (text === undefined || text.length > MAX_RECORD_BYTES) return null;
    try {
      const record = this.#schema.parse(JSON.parse(text.toString('utf8')));
      return record.id === id ? record : null;
    } catch {
      return null;
    }
  }
}
