import { type FileHandle, open } from 'node:fs/promises';
import { z } from 'zod';
import type { Position } from './chunks';
import { RunError } from './errors';
import { COLUMN_TYPES } from './layout';
import type { Tally } from './tally';

/** What a run must have in common with the one that it goes on with. */
const headerSchema = z.object({
  version: z.literal(1),
  options: z.record(z.string(), z.unknown()),
  /** Files of the model. */
  model: z.array(z.object({ name: z.string(), size: z.number(), modified: z.string() })),
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
  /** Up to the end of the last whole line. */
  readonly bytes: number;
}

/** null: not even its first line is whole. */
export function readJournal(content: Buffer): ReadJournal | null {
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
  const header = headerSchema.safeParse(lines[0]);
  if (!header.success) return null;
  const checkpoints = z.array(checkpointSchema).parse(lines.slice(1));
  const states = checkpoints.flatMap(({ state }) => (state === null ? [] : [state]));
  return { header: header.data, last: checkpoints.at(-1) ?? null, states, bytes };
}

/** One line for the run, then one for each checkpoint; each is on the disk before the next begins. */
export class Journal {
  readonly #file: FileHandle;
  readonly #path: string;
  #bytes: number;

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

  close(): Promise<void> {
    return this.#file.close();
  }

  async #append(entry: unknown): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(entry)}\n`);
    const { size } = await this.#file.stat();
    if (size !== this.#bytes) {
      throw new RunError(`${this.#path}: another process writes it, too: let one of them run`);
    }
    await this.#file.write(line, 0, line.length, this.#bytes);
    this.#bytes += line.length;
    await this.#file.datasync();
  }
}
