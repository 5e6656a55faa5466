import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { type Chunk, readChunks } from '../../files/chunks';
import type { Outcome } from '../../files/counts';
import { PIPE } from '../../files/formats';
import { expandInputs, type Input } from '../../files/inputs';
import { BEGINNING, type Journal, type Overrun } from '../../files/journal/journal';
import {
  type Names,
  publish,
  requireFree,
  requireWritable,
  writeWhole,
} from '../../files/journal/names';
import { hashFiles, type Identity, requireSameRun } from '../../files/journal/same-run';
import { Layout, makeLayout } from '../../files/layout';
import type { ProgressDisplay } from '../../files/progress';
import { type Reading, readColumns } from '../../files/readers/open';
import { isBad } from '../../files/rows';
import { findRun, openFiles, openPipe } from '../../files/writers/destination';
import { parquetEncoder } from '../../files/writers/parquet';
import { ResultWriter } from '../../files/writers/result-writer';
import { textEncoder } from '../../files/writers/text';
import { Dispatcher, type Item } from './dispatcher';
import type { Job, RowTask } from './job';
import type { FileOptions } from './options';
import { type Summary, summarize } from './summary';

/** Chunks that have been handed to the engine and are not yet written. */
const MOST_CHUNKS = 4;

/** Says how a run goes on. */
export interface Reporter {
  readonly progress: ProgressDisplay;
  /** One line that a person should know. */
  readonly warn: (line: string) => void;
}

/**
 * Runs a task over the rows of files, from where an earlier run has come to.
 *
 * @throws UsageError, RunError, StuckError, and what the model says if it cannot be loaded
 */
export async function runOverFiles(job: Job, reporter: Reporter): Promise<Summary> {
  const { options, version } = job;
  const { output, rejects, summary: summaryFile } = options;
  const inputs = await expandInputs(options.inputs);
  requireWritable({ output, rejects, summary: summaryFile }, inputs);
  const names = namesOf(options);
  const earlier = names && (await findEarlierRun(names, job));
  const identity: Identity = {
    version,
    options: job.decisive,
    // What goes into a pipe cannot be continued.
    model: names ? await hashFiles(job.modelFiles()) : [],
    inputs: inputs.map(({ path, size, modified }) => ({ path: path ?? PIPE, size, modified })),
  };
  if (earlier) requireSameRun(earlier.header, identity);
  const task = await job.load(reporter.warn);
  try {
    const outcome = await finish({ job, task, inputs, identity, names, earlier, reporter });
    const summary = summarize({ job, task, inputs: inputs.length, outcome });
    if (summaryFile !== null) {
      await writeWhole(summaryFile, `${JSON.stringify(summary, null, 2)}\n`);
    }
    return summary;
  } finally {
    await task.close();
  }
}

/** Of a run that has finished; with `--resume` it stays, so that the same command says so again. */
export async function forgetRun(options: FileOptions): Promise<void> {
  const names = namesOf(options);
  if (names && !options.resume) await rm(names.journal, { force: true });
}

/** null: it goes into a pipe. */
function namesOf({ output, rejects }: FileOptions): Names | null {
  return output === PIPE
    ? null
    : { output, rejects: rejects as string, journal: `${output}.journal` };
}

async function findEarlierRun(names: Names, { options, version }: Job): Promise<Journal | null> {
  const run = options.resume ? await findRun(names, version) : null;
  if (run || options.overwrite) return run;
  // The process was ended before the first line of the journal was whole.
  if (options.resume) await rm(names.journal, { force: true });
  await requireFree(names);
  return null;
}

interface Run {
  readonly job: Job;
  readonly task: RowTask;
  readonly inputs: readonly Input[];
  readonly identity: Identity;
  /** null: into a pipe. */
  readonly names: Names | null;
  readonly earlier: Journal | null;
  readonly reporter: Reporter;
}

async function finish(run: Run): Promise<Outcome> {
  const { task, inputs, earlier, reporter } = run;
  const { options, stuckAfterMs } = run.job;
  const { outputFormat, compression } = options;
  if (earlier?.last?.finished) {
    await publish(run.names as Names, earlier.last.rejected);
    return earlier.last;
  }
  const { chunks, first, layout } = await begin(run);
  const destination = await openDestination(run, layout);
  try {
    const encoder =
      outputFormat === 'parquet'
        ? await parquetEncoder(layout, compression)
        : textEncoder(outputFormat, layout, compression);
    const writer = new ResultWriter({ inputs, layout, encoder, destination });
    reporter.progress.goOnFrom(destination.start.answered + destination.start.rejected);
    if (earlier?.last) await encoder.restore(earlier.states, earlier.last.outputBytes);
    else await writer.start();
    const dispatcher = new Dispatcher({
      task,
      onEnded: reporter.progress.ended,
      onOverrun: ({ file, line }, reason) => destination.note({ file, line, reason }),
      stuckAfterMs,
    });
    const parts = { layout, writer, dispatcher, progress: reporter.progress };
    const done = runChunks(first, chunks, parts);
    await Promise.race([done, dispatcher.failed]).finally(dispatcher.close);
    await writer.finish();
    return writer.outcome;
  } catch (error) {
    await destination.close().catch(() => {});
    throw error;
  }
}

/** The first rows, and the columns that the output has by them. */
async function begin(run: Run) {
  const { task, inputs, earlier } = run;
  const { outputFormat, keep, prefix, inputFormat } = run.job.options;
  const { needed, omitted, cutting } = task;
  const keepsLines = outputFormat === 'jsonl' && keep === 'all' && omitted.length === 0;
  const reading: Reading = { inputFormat, keep, keepsLines, needed, cutting };
  const columns = await readColumns(inputs, reading);
  const read = readChunks(inputs, reading, earlier?.last ?? BEGINNING);
  // The next chunk is read while one runs.
  const chunks: Chunks = Readable.from(itemsOf(read, run), { highWaterMark: 1 }).iterator();
  const first = await chunks.next();
  const rows = (first.value?.items ?? []).flatMap(({ row, problem }) =>
    row && problem === null ? [row] : [],
  );
  const keeping = { outputFormat, keep, prefix, omitted };
  const layout = earlier
    ? new Layout(keeping, task, earlier.header.columns)
    : makeLayout(keeping, task, rows, columns);
  return { chunks, first, layout };
}

function openDestination({ job, names, identity, earlier }: Run, layout: Layout) {
  if (!names) return openPipe(job.options.rejects);
  return openFiles(names, { ...identity, columns: layout.kept && [...layout.kept] }, earlier);
}

interface ItemChunk extends Pick<Chunk, 'end' | 'fraction'> {
  readonly items: readonly Item[];
}
type Chunks = AsyncIterator<ItemChunk, undefined>;

/** What the model takes of each row, and on which rows it has run for too long in an earlier process. */
async function* itemsOf(chunks: AsyncIterable<Chunk>, { task, earlier }: Run) {
  const reasons = new Map<string, string[]>();
  const keyOf = ({ file, line }: Pick<Overrun, 'file' | 'line'>) => `${file}:${line}`;
  for (const one of earlier?.overruns ?? []) {
    reasons.set(keyOf(one), [...(reasons.get(keyOf(one)) ?? []), one.reason]);
  }
  const toItem = ({ file, read }: Chunk['rows'][number]): Item => {
    const item = { file, line: read.line, input: null, answer: null, problem: null };
    if (isBad(read)) return { ...item, row: null, problem: read.problem, hasOverrun: false };
    const [first, second] = reasons.get(keyOf(item)) ?? [];
    const taken = { ...item, ...task.take(read), row: read, hasOverrun: first !== undefined };
    // The second time it was alone, so it has its reason.
    return second === undefined ? taken : { ...taken, problem: second };
  };
  for await (const { rows, ...chunk } of chunks) yield { ...chunk, items: rows.map(toItem) };
}

interface Parts {
  readonly layout: Layout;
  readonly writer: ResultWriter;
  readonly dispatcher: Dispatcher;
  readonly progress: ProgressDisplay;
}

/** Reading, running and writing go on beside each other; each waits where the next one is behind. */
async function runChunks(
  first: IteratorResult<ItemChunk, undefined>,
  chunks: Chunks,
  { layout, writer, dispatcher, progress }: Parts,
): Promise<void> {
  const writing: Promise<void>[] = [];
  let rows = 0;
  for (let next = first; !next.done; next = await chunks.next()) {
    const { items, end, fraction } = next.value;
    layout.prepare(items);
    rows += items.length;
    progress.read(rows, fraction);
    const { ended } = await dispatcher.dispatch(items);
    const before = writing.at(-1);
    const written = Promise.all([ended, before]).then(() => writer.write(items, end));
    written.catch(() => {}); // it is waited for below
    writing.push(written);
    if (writing.length >= MOST_CHUNKS) await writing.shift();
  }
  await Promise.all(writing);
}
