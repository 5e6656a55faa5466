import { z } from 'zod';

/** Permissions of all files below FILES_DIR: only the user of the server reads them. */
export const FILE_MODE = 0o600;
export const FOLDER_MODE = 0o700;

export const fileRecordSchema = z.object({
  id: z.string(),
  /** Hash of the API key that created the file; empty: created without API keys. */
  owner: z.string(),
  bytes: z.number(),
  /** Unix time in ms. */
  createdAt: z.number(),
  /** Unix time in ms; null: the file does not expire. */
  expiresAt: z.number().nullable(),
  filename: z.string(),
  purpose: z.enum(['batch', 'batch_output']),
});
/** A complete file. */
export type FileRecord = Readonly<z.output<typeof fileRecordSchema>>;

export const BATCH_STATUSES = [
  'validating',
  'failed',
  'in_progress',
  'finalizing',
  'completed',
  'expired',
  'cancelling',
  'cancelled',
] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** Statuses of an ended batch. */
const OUTCOMES = ['completed', 'failed', 'expired', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

const problemSchema = z.object({
  code: z.string(),
  message: z.string(),
  /** Field of the line; null: the whole line or file. */
  param: z.string().nullable(),
  /** Line of the input file, from 1; null: the whole batch. */
  line: z.number().nullable(),
});
/** A problem that ends a batch. The message quotes no content of the file. */
export type BatchProblem = Readonly<z.output<typeof problemSchema>>;

export const batchRecordSchema = z.object({
  id: z.string(),
  /** As in `FileRecord`. */
  owner: z.string(),
  endpoint: z.string(),
  inputFileId: z.string(),
  completionWindow: z.literal('24h'),
  metadata: z.record(z.string(), z.string()).nullable(),
  status: z.enum(BATCH_STATUSES),
  /** How the batch ends when its files are complete; null: it is still running. */
  outcome: z.enum(OUTCOMES).nullable(),
  /** IDs that the files get at the end of the batch. */
  outputFileId: z.string(),
  errorFileId: z.string(),
  /** The files exist. */
  hasOutput: z.boolean(),
  hasErrors: z.boolean(),
  /** Time from the end of the batch until its files expire, in s. */
  outputExpiresAfter: z.number(),
  counts: z.object({ total: z.number(), completed: z.number(), failed: z.number() }),
  problems: z.array(problemSchema).readonly(),
  /** Unix times in ms. */
  createdAt: z.number(),
  expiresAt: z.number(),
  /** Time at which the batch got each status. */
  times: z.partialRecord(z.enum(BATCH_STATUSES), z.number()),
});
export type BatchRecord = Readonly<z.output<typeof batchRecordSchema>>;

/** Whether the batch has ended. */
export function isEnded({ status }: Pick<BatchRecord, 'status'>): boolean {
  return OUTCOMES.some((outcome) => outcome === status);
}

/** A key that sees the files of one owner; null: no API keys are set, and every client sees all files. */
export type Viewer = string | null;

export function canSee(viewer: Viewer, { owner }: { readonly owner: string }): boolean {
  return viewer === null || viewer === owner;
}
