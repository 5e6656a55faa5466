import { once } from 'node:events';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { RunError } from '../file-errors';
import { openDurable } from '../journal/durable-file';
import {
  type Checkpoint,
  EMPTY_CHECKPOINT,
  type Journal,
  type JournalHeader,
  type OverrunRow,
} from '../journal/journal';
import {
  type OutputPaths,
  partialPath,
  publishOutput,
  syncParentFolder,
} from '../journal/output-paths';

/** Checkpoint without the file sizes, which the destination adds. */
export type Progress = Omit<Checkpoint, 'outputBytes' | 'rejectsBytes'>;

/** Destination of the output and the rejected rows. */
export interface Destination {
  /** Checkpoint that the job starts from. */
  readonly start: Checkpoint;
  /** Appends output and rejects, then records the checkpoint. */
  append(output: Buffer, rejects: Buffer, done: Progress): Promise<void>;
  /** Overwrites the first bytes of the output. @throws RunError for standard output */
  replaceHead(bytes: Buffer): Promise<void>;
  /** Records in the journal that the model ran too long on a row. */
  recordOverrun(overrun: OverrunRow): Promise<void>;
  /** Renames the partial files to their final names. */
  publish(rejected: number): Promise<void>;
  /** Closes all files. */
  close(): Promise<void>;
}

/**
 * Opens output files with a journal of checkpoints. Bytes after the last checkpoint of an interrupted process are
 * truncated.
 *
 * @param resumed journal of the interrupted job; null for a new job
 * @param mode permissions of created files
 * @throws UsageError if a file is shorter than its checkpoint
 */
export async function openFileDestination(
  paths: OutputPaths,
  header: JournalHeader,
  resumed: Journal | null,
  mode?: number,
): Promise<Destination> {
  const start = resumed?.last ?? EMPTY_CHECKPOINT;
  // Removed first, so that it never counts for the new output.
  if (!resumed) await rm(paths.journal, { force: true });
  const output = await openDurable(partialPath(paths.output), resumed && start.outputBytes, mode);
  const rejects = await openDurable(
    partialPath(paths.rejects),
    resumed && start.rejectsBytes,
    mode,
  );
  const journal = await openDurable(paths.journal, resumed?.bytes ?? null, mode);
  /** Appends a journal line: the header, a checkpoint or an overrun. */
  const write = (entry: unknown) => journal.append(Buffer.from(`${JSON.stringify(entry)}\n`));
  const close = async () => {
    await Promise.all([output, rejects, journal].map((file) => file.close()));
  };
  if (!resumed) {
    await write(header);
    await syncParentFolder(paths.journal);
  }
  return {
    start,
    async append(bytes, rejected, done) {
      await output.append(bytes);
      await rejects.append(rejected);
      await write({ ...done, outputBytes: output.bytes, rejectsBytes: rejects.bytes });
    },
    replaceHead: (bytes) => output.replaceHead(bytes),
    recordOverrun: (overrun) => write({ overrun }),
    async publish(rejected) {
      await close();
      await publishOutput(paths, rejected);
    },
    close,
  };
}

/**
 * Writes to standard output, without resume.
 *
 * @param rejects file for rejected rows; null for standard error
 */
export async function openStdoutDestination(rejects: string | null): Promise<Destination> {
  const file: FileHandle | null = rejects === null ? null : await open(rejects, 'w');
  let problem: Error | null = null;
  process.stdout.on('error', (error) => {
    problem = error;
  });
  const nothing = async () => {};
  return {
    start: EMPTY_CHECKPOINT,
    async append(bytes, rejected) {
      if (file) await file.appendFile(rejected);
      else if (rejected.length > 0) process.stderr.write(rejected);
      if (bytes.length === 0) return;
      // Backpressure: a slow reader slows down the whole job.
      if (!process.stdout.write(bytes) && !problem) {
        await once(process.stdout, 'drain').catch(nothing);
      }
      if (problem) throw new RunError(`standard output: write failed: ${problem.message}`);
    },
    replaceHead: async () => {
      throw new RunError('standard output: cannot overwrite the header. Use --output with a file');
    },
    recordOverrun: nothing,
    publish: nothing,
    close: async () => file?.close(),
  };
}
