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

/** A checkpoint but for what the destination knows itself. */
export type Progress = Omit<Checkpoint, 'outputBytes' | 'rejectsBytes'>;

/** Where bytes of the output and lines of rejects go. */
export interface Destination {
  /** Where the run begins, or goes on. */
  readonly start: Checkpoint;
  /** Puts both behind what is there, and then counts as done what the checkpoint says. */
  append(output: Buffer, rejects: Buffer, done: Progress): Promise<void>;
  /** Writes over the first bytes of the output. @throws RunError: of a pipe */
  replaceHead(bytes: Buffer): Promise<void>;
  /** Keeps for the next process that the model ran for too long on a row. */
  recordOverrun(overrun: OverrunRow): Promise<void>;
  /** Gives the files their names. */
  publish(rejected: number): Promise<void>;
  /** Leaves all as it is. */
  close(): Promise<void>;
}

/**
 * Files that a run appends to, and a journal that says up to where they count. What is behind that,
 * of a process that was ended, is cut off.
 *
 * @param run null: a new one begins
 * @throws UsageError where what the journal counts is not there
 */
export async function openFileDestination(
  names: OutputPaths,
  header: JournalHeader,
  run: Journal | null,
): Promise<Destination> {
  const start = run?.last ?? EMPTY_CHECKPOINT;
  // First, so that what a run of before has left never counts for this one.
  if (!run) await rm(names.journal, { force: true });
  const output = await openDurable(partialPath(names.output), run && start.outputBytes);
  const rejects = await openDurable(partialPath(names.rejects), run && start.rejectsBytes);
  const journal = await openDurable(names.journal, run?.bytes ?? null);
  /** One line for the run, then one for each checkpoint or overrun. */
  const write = (entry: unknown) => journal.append(Buffer.from(`${JSON.stringify(entry)}\n`));
  const close = async () => {
    await Promise.all([output, rejects, journal].map((file) => file.close()));
  };
  if (!run) {
    await write(header);
    await syncParentFolder(names.journal);
  }
  return {
    start,
    async append(some, rejected, done) {
      await output.append(some);
      await rejects.append(rejected);
      await write({ ...done, outputBytes: output.bytes, rejectsBytes: rejects.bytes });
    },
    replaceHead: (bytes) => output.replaceHead(bytes),
    recordOverrun: (overrun) => write({ overrun }),
    async publish(rejected) {
      await close();
      await publishOutput(names, rejected);
    },
    close,
  };
}

/**
 * Standard output: what has gone is gone, so nothing can be resumed.
 *
 * @param rejects null: standard error
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
    async append(some, rejected) {
      if (file) await file.appendFile(rejected);
      else if (rejected.length > 0) process.stderr.write(rejected);
      if (some.length === 0) return;
      // Whoever reads is slower: then this waits, and with it all that is read.
      if (!process.stdout.write(some) && !problem) {
        await once(process.stdout, 'drain').catch(nothing);
      }
      if (problem) throw new RunError(`standard output cannot be written: ${problem.message}`);
    },
    replaceHead: async () => {
      throw new RunError('standard output cannot be written from its beginning');
    },
    recordOverrun: nothing,
    publish: nothing,
    close: async () => file?.close(),
  };
}
