import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { UsageError } from '../file-errors';
import { COLUMN_TYPES } from '../job-spec';
import { ignoreNotFound } from './output-paths';

const NEWLINE = 0x0a;

/** First line of the journal: the properties that a resumed job must share. */
const headerSchema = z.object({
  /** Package version. */
  version: z.string(),
  options: z.record(z.string(), z.unknown()),
  /** Model files. */
  model: z.array(z.object({ name: z.string(), sha256: z.string() })),
  inputs: z.array(z.object({ path: z.string(), size: z.number(), modified: z.string() })),
  columns: z.array(z.object({ name: z.string(), type: z.enum(COLUMN_TYPES) })).nullable(),
});
export type JournalHeader = Readonly<z.output<typeof headerSchema>>;

const recordingTotals = z.object({
  windows: z.number(),
  /** Windows by label. */
  labels: z.record(z.string(), z.number()),
  /** Sum of the probabilities of each label. */
  scores: z.record(z.string(), z.number()),
  /** Windows whose event names a label, and those whose prediction is this label. */
  compared: z.number(),
  agreed: z.number(),
});
export type RecordingTotals = Readonly<z.output<typeof recordingTotals>>;

/** Journal entry after each part of the output: everything up to here is on disk. */
const checkpointSchema = z.object({
  /** Position in the inputs, see `Position`. */
  input: z.number(),
  rows: z.number(),
  /** File sizes in bytes. */
  outputBytes: z.number(),
  rejectsBytes: z.number(),
  answered: z.number(),
  rejected: z.number(),
  truncated: z.number(),
  /** Number of predictions by label. */
  labels: z.record(z.string(), z.number()),
  /** Totals of each recording. */
  recordings: z.record(z.string(), recordingTotals),
  /** Duration of all processes of the job. */
  seconds: z.number(),
  /** State of the encoder; null if it has none. */
  state: z.string().nullable(),
  finished: z.boolean(),
});
export type Checkpoint = Readonly<z.output<typeof checkpointSchema>>;

/** Totals of a job. */
export type JobTotals = Pick<
  Checkpoint,
  'answered' | 'rejected' | 'truncated' | 'labels' | 'recordings' | 'seconds'
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
  recordings: {},
  seconds: 0,
  state: null,
  finished: false,
};

const overrunSchema = z.object({
  overrun: z.object({
    /** Index of the input file. */
    file: z.number(),
    line: z.number().nullable(),
    reason: z.string(),
  }),
});
/** Row on which the model ran too long: the first time within a batch, the second time as a single row. */
export type OverrunRow = Readonly<z.output<typeof overrunSchema>['overrun']>;

/** Parsed journal. An incomplete last line is ignored. */
export interface Journal {
  readonly header: JournalHeader;
  readonly last: Checkpoint | null;
  /** Encoder states of all checkpoints, in order. */
  readonly states: readonly string[];
  /** In chronological order. */
  readonly overruns: readonly OverrunRow[];
  /** Size up to the end of the last complete line. */
  readonly bytes: number;
}

/**
 * Reads the journal of an earlier process.
 *
 * @param version version of this package
 * @returns null if the file is missing or has no complete line
 * @throws UsageError if the journal is invalid or of another version
 */
export async function readJournal(file: string, version: string): Promise<Journal | null> {
  const content = await readFile(file).catch(ignoreNotFound);
  const [header, ...entries] = parseLines(content ?? Buffer.alloc(0));
  if (!header) return null;
  requireVersion(header.value, version);
  const overruns: OverrunRow[] = [];
  const checkpoints: Checkpoint[] = [];
  for (const [index, { value }] of entries.entries()) {
    const isOverrun = typeof value === 'object' && value !== null && 'overrun' in value;
    if (isOverrun) overruns.push(parse(overrunSchema, value, file, index + 2).overrun);
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

/** Parses all complete lines. `end` is the offset after the line. */
function parseLines(content: Buffer): { readonly value: unknown; readonly end: number }[] {
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

/** Another version may compute different results or write a different journal format. */
function requireVersion(header: unknown, version: string): void {
  const { data } = z.object({ version: z.string() }).safeParse(header);
  if (data?.version === version) return;
  const other = data ? `version ${data.version}` : 'another version';
  throw new UsageError(
    `--resume: the job was started with ${other} of libtorch-serve, not ${version}. Start again with --overwrite`,
  );
}

function parse<Entry>(schema: z.ZodType<Entry>, value: unknown, file: string, line: number): Entry {
  const { data, error } = schema.safeParse(value);
  if (!error) return data;
  const [{ path, message } = { path: [], message: '' }] = error.issues;
  const where = path.length > 0 ? `${path.join('.')}: ` : '';
  throw new UsageError(
    `--resume: ${file}, line ${line}: ${where}${message}. Restore the journal, or start again with --overwrite`,
  );
}
