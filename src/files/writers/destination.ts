import { once } from 'node:events';
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { RunError } from '../errors';
import { DurableFile } from '../journal/durable-file';
import {
  BEGINNING,
  type Checkpoint,
  type Header,
  type Journal,
  type Overrun,
  readJournal,
} from '../journal/journal';
import { ignoreMissing, type Names, partial, publish, syncFolder } from '../journal/names';

/** A checkpoint but for what the destination knows itself. */
export type Progress = Omit<Checkpoint, 'outputBytes' | 'rejectsBytes'>;

/** Where bytes of the output and lines of rejects go. */
export interface Destination {
  /** Where the run begins, or goes on. */
  readonly start: Checkpoint;
  /** Puts both behind what is there, and then counts as done what the checkpoint says. */
  append(output: Buffer, rejects: Buffer, done: Progress): Promise<void>;
  /** Keeps for the next process that the model ran for too long on a row. */
  note(overrun: Overrun): Promise<void>;
  /** Gives the files their names. */
  publish(rejected: number): Promise<void>;
  /** Leaves all as it is. */
  close(): Promise<void>;
}

/**
 * The run that was ended here; null: there is none.
 *
 * @param version of this package
 * @throws UsageError where another version began it, or its journal is none
 */
export async function findRun({ journal }: Names, version: string): Promise<Journal | null> {
  const content = await readFile(journal).catch(ignoreMissing);
  return content ? readJournal(journal, content, version) : null;
}

/**
 * Files that a run appends to, and a journal that says up to where they count. What is behind that,
 * of a process that was ended, is cut off.
 *
 * @param run null: a new one begins
 * @throws UsageError where what the journal counts is not there
 */
export async function openFiles(
  names: Names,
  header: Header,
  run: Journal | null,
): Promise<Destination> {
  const start = run?.last ?? BEGINNING;
  // First, so that what a run of before has left never counts for this one.
  if (!run) await rm(names.journal, { force: true });
  const open = (file: string, bytes: number) =>
    run ? DurableFile.reopen(file, bytes) : DurableFile.create(file);
  const output = await open(partial(names.output), start.outputBytes);
  const rejects = await open(partial(names.rejects), start.rejectsBytes);
  const journal = await open(names.journal, run?.bytes ?? 0);
  /** One line for the run, then one for each checkpoint or overrun. */
  const write = (entry: unknown) => journal.append(Buffer.from(`${JSON.stringify(entry)}\n`));
  const close = async () => {
    await Promise.all([output, rejects, journal].map((file) => file.close()));
  };
  if (!run) {
    await write(header);
    await syncFolder(names.journal);
  }
  return {
    start,
    async append(some, rejected, done) {
      await output.append(some);
      await rejects.append(rejected);
      await write({ ...done, outputBytes: output.bytes, rejectsBytes: rejects.bytes });
    },
    note: (overrun) => write({ overrun }),
    async publish(rejected) {
      await close();
      await publish(names, rejected);
    },
    close,
  };
}

/**
 * Standard output: what has gone is gone, so nothing can be resumed.
 *
 * @param rejects null: standard error
 */
export async function openPipe(rejects: string | null): Promise<Destination> {
  const file: FileHandle | null = rejects === null ? null : await open(rejects, 'w');
  let problem: Error | null = null;
  process.stdout.on('error', (error) => {
    problem = error;
  });
  const nothing = async () => {};
  return {
    start: BEGINNING,
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
    note: nothing,
    publish: nothing,
    close: async () => file?.close(),
  };
}
