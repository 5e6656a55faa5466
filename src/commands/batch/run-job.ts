import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  type Compression,
  type FileOptions,
  type OutputFormat,
  STANDARD_STREAM,
} from '../../files/formats';
import { expandInputs, type InputFile } from '../../files/input-files';
import type { JobSpec } from '../../files/job-spec';
import { hashFiles, type JobIdentity, requireSameJob } from '../../files/journal/job-identity';
import {
  EMPTY_CHECKPOINT,
  type JobTotals,
  type Journal,
  readJournal,
} from '../../files/journal/journal';
import {
  type OutputPaths,
  outputPathsOf,
  publishOutput,
  requireNoOutput,
  requireWritable,
  writeFileAtomically,
} from '../../files/journal/output-paths';
import { inferOutputSchema, OutputSchema } from '../../files/output-schema';
import type { ProgressDisplay } from '../../files/progress';
import { companionFiles } from '../../files/readers/recording-files';
import { type Chunk, readChunks, readColumns } from '../../files/readers/row-reader';
import { isRejected, type ReadRow } from '../../files/rows';
import { openFileDestination, openStdoutDestination } from '../../files/writers/destination';
import { npyEncoder } from '../../files/writers/npy-encoder';
import type { OutputEncoder } from '../../files/writers/output-encoder';
import { parquetEncoder } from '../../files/writers/parquet-encoder';
import { ResultWriter } from '../../files/writers/result-writer';
import { textEncoder } from '../../files/writers/text-encoder';
import { type BatchRow, Dispatcher } from './dispatcher';
import type { BatchJob, RowTask } from './job';
import { type Summary, summarize } from './summary';

/** Maximum number of chunks in the engine or before writing. */
const MAX_CHUNKS = 4;

/**
 * Runs a batch job; `--resume` continues an interrupted job.
 *
 * @throws UsageError, RunError, HungModelError, or the load error of the model
 */
export async function runBatchJob(job: BatchJob, progress: ProgressDisplay): Promise<Summary> {
  const { options, version } = job;
  const inputs = await expandInputs(options.inputs);
  requireWritable(options, inputs);
  const names = outputPathsOf(options);
  const earlier = names && (await findEarlierRun(names, job));
  const identity: JobIdentity = {
    version,
    options: job.identity,
    // Output to a pipe cannot be resumed.
    model: names ? await hashFiles(job.modelFiles()) : [],
    inputs: [...inputs, ...(await companionFiles(inputs))].map(({ path, size, modified }) => ({
      path: path ?? STANDARD_STREAM,
      size,
      modified,
    })),
  };
  if (earlier) requireSameJob(earlier.header, identity);
  const task = await job.load();
  try {
    const plan = { options, format: task };
    const outcome = await finish({ job, task, plan, inputs, identity, names, earlier, progress });
    const summary = summarize(job, task, inputs.length, outcome);
    if (options.summary !== null) {
      await writeFileAtomically(options.summary, `${JSON.stringify(summary, null, 2)}\n`);
    }
    return summary;
  } finally {
    task.model.drop();
    await task.model.close();
  }
}

/** Removes the journal of a complete job. With `--resume` it stays: the same command reports the summary again. */
export async function removeJournal(options: FileOptions): Promise<void> {
  const names = outputPathsOf(options);
  if (names && !options.resume) await rm(names.journal, { force: true });
}

async function findEarlierRun(
  names: OutputPaths,
  { options, version }: BatchJob,
): Promise<Journal | null> {
  const run = options.resume ? await readJournal(names.journal, version) : null;
  if (run || options.overwrite) return run;
  // The first line of the journal is incomplete.
  if (options.resume) await rm(names.journal, { force: true });
  await requireNoOutput(names);
  return null;
}

interface Run {
  readonly job: BatchJob;
  readonly task: RowTask;
  readonly plan: JobSpec;
  readonly inputs: readonly InputFile[];
  readonly identity: JobIdentity;
  /** null: the output is a pipe. */
  readonly names: OutputPaths | null;
  readonly earlier: Journal | null;
  readonly progress: ProgressDisplay;
}

type Chunks = AsyncIterator<Chunk<BatchRow>, undefined>;

async function finish(run: Run): Promise<JobTotals> {
  const { job, task, inputs, names, earlier, progress } = run;
  const { outputFormat, compression } = job.options;
  if (names && earlier?.last?.finished) {
    await publishOutput(names, earlier.last.rejected);
    return earlier.last;
  }
  const { chunks, first, layout } = await begin(run);
  const destination = names
    ? await openFileDestination(
        names,
        { ...run.identity, columns: layout.keptColumns && [...layout.keptColumns] },
        earlier,
      )
    : await openStdoutDestination(job.options.rejects);
  try {
    const encoder = await openEncoder(outputFormat, layout, compression);
    const writer = new ResultWriter({ inputs, format: task, encoder, destination });
    progress.resumeFrom(destination.start.answered + destination.start.rejected);
    if (earlier?.last) await encoder.restore(earlier.states, earlier.last.outputBytes);
    else await writer.start();
    const dispatcher = new Dispatcher({
      task,
      onEnded: progress.rowFinished,
      onOverrun: ({ file, line }, reason) => destination.recordOverrun({ file, line, reason }),
      stuckAfterMs: job.stuckAfterMs,
    });
    const done = runChunks(first, chunks, { layout, writer, dispatcher, progress });
    await Promise.race([done, dispatcher.failed]).finally(dispatcher.close);
    await writer.finish();
    return writer.totals;
  } catch (error) {
    await destination.close().catch(() => {});
    throw error;
  }
}

async function openEncoder(
  format: OutputFormat,
  layout: OutputSchema,
  compression: Compression,
): Promise<OutputEncoder> {
  if (format === 'npy') return npyEncoder(layout);
  if (format === 'parquet') return parquetEncoder(layout, compression);
  return textEncoder(format, layout, compression);
}

/** Reads the first chunk and infers the output schema from its rows. */
async function begin({ task, plan, inputs, earlier }: Run) {
  const columns = await readColumns(inputs, plan);
  const read = readChunks(inputs, plan, earlier?.last ?? EMPTY_CHECKPOINT, toItem(task, earlier));
  // Reads the next chunk during inference.
  const chunks: Chunks = Readable.from(read, { highWaterMark: 1 }).iterator();
  const first = await chunks.next();
  const rows = (first.value?.items ?? []).flatMap(({ row, problem }) =>
    row && problem === null ? [row] : [],
  );
  const layout = earlier
    ? new OutputSchema(plan, earlier.header.columns)
    : inferOutputSchema(plan, rows, columns);
  return { chunks, first, layout };
}

/** Creates the function that converts rows to model inputs and rejects rows that exceeded the timeout twice. */
function toItem(task: RowTask, earlier: Journal | null) {
  const reasons = new Map<string, string[]>();
  for (const { file, line, reason } of earlier?.overruns ?? []) {
    const key = `${file}:${line}`;
    reasons.set(key, [...(reasons.get(key) ?? []), reason]);
  }
  return (file: number, read: ReadRow): BatchRow => {
    const item = { file, line: read.line, input: null, prediction: null, problem: null };
    if (isRejected(read)) return { ...item, row: null, problem: read.problem, hasOverrun: false };
    const [first, second] = reasons.get(`${file}:${read.line}`) ?? [];
    const taken = { ...item, ...task.toInput(read), row: read, hasOverrun: first !== undefined };
    // The second timeout was in a batch of its own.
    return second === undefined ? taken : { ...taken, problem: second };
  };
}

interface Parts {
  readonly layout: OutputSchema;
  readonly writer: ResultWriter;
  readonly dispatcher: Dispatcher;
  readonly progress: ProgressDisplay;
}

/** Reads, runs and writes chunks concurrently, with backpressure. */
async function runChunks(
  first: IteratorResult<Chunk<BatchRow>, undefined>,
  chunks: Chunks,
  { layout, writer, dispatcher, progress }: Parts,
): Promise<void> {
  const writing: Promise<void>[] = [];
  let rows = 0;
  for (let next = first; !next.done; next = await chunks.next()) {
    const { items, end, fraction } = next.value;
    layout.prepare(items);
    rows += items.length;
    progress.setRowsRead(rows, fraction);
    const { ended } = await dispatcher.dispatch(items);
    const before = writing.at(-1);
    const written = Promise.all([ended, before]).then(() => writer.write(items, end));
    written.catch(() => {}); // Awaited below.
    writing.push(written);
    if (writing.length >= MAX_CHUNKS) await writing.shift();
  }
  await Promise.all(writing);
}
