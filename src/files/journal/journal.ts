import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { UsageError } from '../file-errors';
import { COLUMN_TYPES } from '../job-spec';
import { ignoreNotFound } from './output-paths';

const NEWLINE = 0x0a;

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
export type JournalHeader = Readonly<z.output<typeof headerSchema>>;

/** Up to where all is on the disk. */
const checkpointSchema = z.object({
  /** See `Position`. */
  input: z.number(),
  rows: z.number(),
  /** Bytes of the output, and of the rejects. */
  outputBytes: z.number(),
  rejectsBytes: z.number(),
  answered: z.number(),
  rejected: z.number(),
  truncated: z.number(),
  /** Answers by label. */
  labels: z.record(z.string(), z.number()),
  /** That the run has taken, in all its parts. */
  seconds: z.number(),
  /** Of the encoder. */
  state: z.string().nullable(),
  finished: z.boolean(),
});
export type Checkpoint = Readonly<z.output<typeof checkpointSchema>>;

/** What a run has come to. */
export type JobTotals = Pick<
  Checkpoint,
  'answered' | 'rejected' | 'truncated' | 'labels' | 'seconds'
>;

export const EMPTY_CHECKPOINT: Checkpoint = {
  input: 0,
  rows: 0,
  outputBytes: 0,
  rejectsBytes: 0,
  answered: 0,
  rejected: 0,
  truncated: 0,
  labels: {},
  seconds: 0,
  state: null,
  finished: false,
};

const noteSchema = z.object({
  overrun: z.object({
    /** Index of the input. */
    file: z.number(),
    line: z.number().nullable(),
    reason: z.string(),
  }),
});
/** A row on which the model ran for too long: among others the first time, alone the second. */
export type OverrunRow = Readonly<z.output<typeof noteSchema>['overrun']>;

/** What a journal says; a last line that was cut off is none. */
export interface Journal {
  readonly header: JournalHeader;
  readonly last: Checkpoint | null;
  /** Of all checkpoints, in order. */
  readonly states: readonly string[];
  /** In the order in which they happened. */
  readonly overruns: readonly OverrunRow[];
  /** Up to the end of the last whole line. */
  readonly bytes: number;
}

/**
 * @param version of this package
 * @returns null: there is none, or not even its first line is whole
 * @throws UsageError where another version wrote it, or nothing that writes journals
 */
export async function readJournal(file: string, version: string): Promise<Journal | null> {
  const content = await readFile(file).catch(ignoreNotFound);
  const [header, ...entries] = linesOf(content ?? Buffer.alloc(0));
  if (!header) return null;
  requireVersion(header.value, version);
  const overruns: OverrunRow[] = [];
  const checkpoints: Checkpoint[] = [];
  for (const [index, { value }] of entries.entries()) {
    const isNote = typeof value === 'object' && value !== null && 'overrun' in value;
    if (isNote) overruns.push(parse(noteSchema, value, file, index + 2).overrun);
    else checkpoints.push(parse(checkpointSchema, value, file, index + 2));
  }
  return {
    header: parse(headerSchema, header.value, file, 1),
    last: checkpoints.at(-1) ?? null,
    states: checkpoints.flatMap(({ state }) => state ?? []),
    overruns,
    bytes: (entries.at(-1) ?? header).end,
  };
}

/** Whole lines, and where each ends. */
function linesOf(content: Buffer): { readonly value: unknown; readonly end: number }[] {
  const lines: { value: unknown; end: number }[] = [];
  let start = 0;
  for (let at = content.indexOf(NEWLINE); at >= 0; at = content.indexOf(NEWLINE, start)) {
    try {
      lines.push({ value: JSON.parse(content.toString('utf8', start, at)), end: at + 1 });
    } catch {
      break;
    }
    start = at + 1;
  }
  return lines;
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

function parse<Entry>(schema: z.ZodType<Entry>, value: unknown, file: string, line: number): Entry {
  const { data, error } = schema.safeParse(value);
  if (!error) return data;
  const [{ path, message } = { path: [], message: '' }] = error.issues;
  const where = path.length > 0 ? `${path.join('.')}: ` : '';
  throw new UsageError(
    `--resume: ${file}, line ${line}: ${where}${message}: no run writes that: undo the edit, or begin anew with --overwrite`,
  );
}
