import { type FileHandle, open } from 'node:fs/promises';
import { z } from 'zod';
import type { Position } from './chunks';
import { RunError, UsageError } from './errors';
import { COLUMN_TYPES } from './layout';
import type { Tally } from './tally';
import { writeAt } from './write-at';

/** What a run must have in common with the one that it goes on with. */
const headerSchema = z.object({
  /** Of this package. */
  version: z.string(),
  options: z.record(z.string(), z.unknown()),
  /** Files that the model is loaded from. */
  model: z.array(z.object({ name: z.string(), sha256: z.string() })),
  inputs: z.array(z.object({ path: z.string(), size: z.number(), modified: z.string() })),
  columns: z.array(z.object({ name: z.string(), type: z.enum(COLUMN_TYPES) })).nullable(),
});
export type Header = z.output<typeof headerSchema>;

const checkpointSchema = z.object({
  input: z.number(),
  rows: z.number(),
  /** Bytes of the output, and of the rejects. */
  outputBytes: z.number(),
  rejectsBytes: z.number(),
  answered: z.number(),
  rejected: z.number(),
  truncated: z.number(),
  labels: z.record(z.string(), z.number()),
  /** That the run has taken, in all its parts. */
  seconds: z.number(),
  state: z.string().nullable(),
  finished: z.boolean(),
});

const overrunSchema = z.object({
  /** Index of the input. */
  file: z.number(),
  line: z.number().nullable(),
  reason: z.string(),
});

/** A row on which the model ran for too long: among others the first time, alone the second. */
export type Overrun = z.output<typeof overrunSchema>;

const noteSchema = z.object({ overrun: overrunSchema });

/** Up to where all is on the disk. */
export type Checkpoint = Position &
  Tally & {
    readonly outputBytes: number;
    readonly rejectsBytes: number;
    readonly seconds: number;
    readonly state: string | null;
    readonly finished: boolean;
  };

/** What a journal says; a last line that was cut off is none. */
export interface ReadJournal {
  readonly header: Header;
  readonly last: Checkpoint | null;
  /** Of all checkpoints, in order. */
  readonly states: readonly string[];
  /** In the order in which they happened. */
  readonly overruns: readonly Overrun[];
  /** Up to the end of the last whole line. */
  readonly bytes: number;
}

/**
 * null: not even its first line is whole.
 *
 * @param version of this package
 * @throws UsageError where another version wrote it
 */
export function readJournal(content: Buffer, version: string): ReadJournal | null {
  const lines: unknown[] = [];
  let bytes = 0;
  for (let end = content.indexOf(10); end >= 0; end = content.indexOf(10, bytes)) {
    try {
      lines.push(JSON.parse(content.toString('utf8', bytes, end)));
    } catch {
      break;
    }
    bytes = end + 1;
  }
  if (lines.length === 0) return null;
  requireVersion(lines[0], version);
  const header = headerSchema.parse(lines[0]);
  const overruns: Overrun[] = [];
  const checkpoints: Checkpoint[] = [];
  for (const line of lines.slice(1)) {
    const note = noteSchema.safeParse(line);
    if (note.success) overruns.push(note.data.overrun);
    else checkpoints.push(checkpointSchema.parse(line));
  }
  const states = checkpoints.flatMap(({ state }) => (state === null ? [] : [state]));
  return { header, last: checkpoints.at(-1) ?? null, states, overruns, bytes };
}

/** Another version may compute other answers, and keep its journal otherwise. */
function requireVersion(header: unknown, version: string): void {
  const { data } = z.object({ version: z.string() }).safeParse(header);
  if (data?.version === version) return;
  const other = data ? `version ${data.version}` : 'another version';
  throw new UsageError(
    `--resume: the run began with ${other} of libtorch-serve, not ${version}: --overwrite begins anew`,
  );
}

/** One line for the run, then one for each checkpoint or overrun; each is on the disk before the next begins. */
export class Journal {
  readonly #file: FileHandle;
  readonly #path: string;
  #bytes: number;
  /** The last line; once one cannot be written, no other one is. */
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle, path: string, bytes: number) {
    this.#file = file;
    this.#path = path;
    this.#bytes = bytes;
  }

  static async create(path: string, header: Header): Promise<Journal> {
    const journal = new Journal(await open(path, 'w'), path, 0);
    await journal.#append(header);
    return journal;
  }

  /** @param bytes what is kept of it */
  static async reopen(path: string, bytes: number): Promise<Journal> {
    const file = await open(path, 'r+');
    await file.truncate(bytes);
    return new Journal(file, path, bytes);
  }

  write(checkpoint: Checkpoint): Promise<void> {
    return this.#append(checkpoint);
  }

  note(overrun: Overrun): Promise<void> {
    return this.#append({ overrun });
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #append(entry: unknown): Promise<void> {
    this.#last = this.#last.then(() => this.#write(entry));
    return this.#last;
  }

  async #write(entry: unknown): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    const { size } = await this.#file.stat();
    if (size !== this.#bytes) {
      throw new RunError(`${this.#path}: another process writes it, too: let one of them run`);
    }
    await writeAt(this.#file, this.#path, line, this.#bytes);
    this.#bytes += line.length;
  }
}
