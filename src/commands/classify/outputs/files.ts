import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../errors';
import {
  type Checkpoint,
  type Header,
  Journal,
  type Overrun,
  type ReadJournal,
  readJournal,
} from '../journal';
import { writeAt } from '../write-at';
import { BEGINNING, type Destination, type Progress } from './destination';

/** Where a run writes: each file has its name only once the run has finished. */
export interface Places {
  readonly output: string;
  readonly rejects: string;
  readonly journal: string;
}

export function placesOf(output: string, rejects: string): Places {
  return { output, rejects, journal: `${output}.journal` };
}

const partial = (file: string): string => `${file}.partial`;

/**
 * The run that was ended here; null: there is none.
 *
 * @param version of this package
 * @throws UsageError where another version began it
 */
export async function findRun({ journal }: Places, version: string): Promise<ReadJournal | null> {
  const content = await readFile(journal).catch(ignoreMissing);
  return content ? readJournal(content, version) : null;
}

/** @throws UsageError where something is in the way of a new run */
export async function requireFree(places: Places): Promise<void> {
  if (await exists(places.journal)) {
    throw new UsageError(
      `${places.output}: a run that was ended is there: --resume goes on with it, --overwrite begins anew`,
    );
  }
  for (const file of [places.output, places.rejects]) {
    if (await exists(file))
      throw new UsageError(`${file}: is there already: --overwrite replaces it`);
  }
}

/**
 * Files that a run appends to, and a journal that says up to where they count. What is behind that,
 * of a process that was ended, is cut off.
 */
export class FileDestination implements Destination {
  readonly start: Checkpoint;
  readonly #places: Places;
  readonly #output: FileHandle;
  readonly #rejects: FileHandle;
  readonly #journal: Journal;
  #last: Checkpoint;

  private constructor(
    places: Places,
    files: readonly [FileHandle, FileHandle, Journal],
    start: Checkpoint,
  ) {
    this.#places = places;
    [this.#output, this.#rejects, this.#journal] = files;
    this.start = start;
    this.#last = start;
  }

  static async create(places: Places, header: Header): Promise<FileDestination> {
    // First, so that what a run of before has left never counts for this one.
    await rm(places.journal, { force: true });
    const output = await open(partial(places.output), 'w');
    const rejects = await open(partial(places.rejects), 'w');
    const journal = await Journal.create(places.journal, header);
    await syncFolder(places.journal);
    return new FileDestination(places, [output, rejects, journal], BEGINNING);
  }

  static async reopen(places: Places, run: ReadJournal): Promise<FileDestination> {
    const start = run.last ?? BEGINNING;
    const output = await reopenAt(partial(places.output), start.outputBytes);
    const rejects = await reopenAt(partial(places.rejects), start.rejectsBytes);
    const journal = await Journal.reopen(places.journal, run.bytes);
    return new FileDestination(places, [output, rejects, journal], start);
  }

  async append(output: Buffer, rejects: Buffer, done: Progress): Promise<void> {
    const { outputBytes, rejectsBytes } = this.#last;
    const { output: outputPath, rejects: rejectsPath } = this.#places;
    await writeAt(this.#output, partial(outputPath), output, outputBytes);
    await writeAt(this.#rejects, partial(rejectsPath), rejects, rejectsBytes);
    const next = {
      ...done,
      outputBytes: outputBytes + output.length,
      rejectsBytes: rejectsBytes + rejects.length,
    };
    await this.#journal.write(next);
    this.#last = next;
  }

  note(overrun: Overrun): Promise<void> {
    return this.#journal.note(overrun);
  }

  async publish(): Promise<void> {
    await this.close();
    await publish(this.#places, this.#last);
  }

  async close(): Promise<void> {
    await Promise.all([this.#output.close(), this.#rejects.close(), this.#journal.close()]);
  }
}

/**
 * Gives the files of a finished run their names; what has its name already is left.
 *
 * @throws UsageError where somebody has taken the output away
 */
export async function publish(
  { output, rejects }: Places,
  { rejected }: Checkpoint,
): Promise<void> {
  if (rejected === 0) {
    await rm(partial(rejects), { force: true });
    await rm(rejects, { force: true });
  } else {
    await rename(partial(rejects), rejects).catch(ignoreMissing);
  }
  await rename(partial(output), output).catch(ignoreMissing);
  if (!(await exists(output))) {
    throw new UsageError(
      `${output}: the run has finished, but its output is gone: --overwrite begins anew`,
    );
  }
  await syncFolder(output);
  await syncFolder(rejects);
}

/** @throws UsageError where what the journal counts is not there */
async function reopenAt(file: string, bytes: number): Promise<FileHandle> {
  const handle = await open(file, 'r+').catch(ignoreMissing);
  const size = (await handle?.stat())?.size ?? -1;
  if (!handle || size < bytes) {
    throw new UsageError(`${file}: is not what the run left: --overwrite begins anew`);
  }
  await handle.truncate(bytes);
  return handle;
}

/** A new name is on the disk only once its folder is. */
export async function syncFolder(file: string): Promise<void> {
  const folder = await open(path.dirname(path.resolve(file)), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(ignoreMissing)) !== undefined;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
