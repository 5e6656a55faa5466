import { rm } from 'node:fs/promises';
import type { Config } from '../../settings/config';
import { PRESETS } from '../presets';
import { ChunkWriter } from './chunk-writer';
import { type Chunk, readChunks, type Source } from './chunks';
import { Feeder } from './feeder';
import { PIPE } from './formats';
import { headerOf, type Identity, identityOf, requireSameRun } from './identity';
import { expandInputs } from './inputs/expand';
import { lookAtInputs, type Reading } from './inputs/open';
import type { Cutting } from './inputs/recordings';
import type { Checkpoint, ReadJournal } from './journal';
import { Layout, makeLayout } from './layout';
import type { Options } from './options';
import type { Destination } from './outputs/destination';
import { makeEncoder } from './outputs/encoder';
import { FileDestination, findRun, placesOf, publish, requireFree } from './outputs/files';
import { PipeDestination } from './outputs/pipe';
import { requireWritable } from './outputs/places';
import type { ProgressDisplay } from './progress';
import { type Summary, summarize, writeSummary } from './summary';
import type { Tally } from './tally';
import { loadTask } from './task';

/** Chunks that have been handed to the engine and are not yet written. */
const MOST_CHUNKS = 4;

/** How a run speaks while it goes on. */
export interface Voices {
  readonly progress: ProgressDisplay;
  /** One line that a person should know. */
  readonly warn: (line: string) => void;
}

/**
 * Classifies files, from where the run has come to.
 *
 * @param version of this package
 * @throws UsageError, RunError, StuckError, and what the model says if it cannot be loaded
 */
export async function classifyFiles(
  config: Config,
  options: Options,
  { progress, warn }: Voices,
  version: string,
): Promise<Summary> {
  const inputs = await expandInputs(options.inputs);
  requireWritable(options, inputs);
  const run = await findEarlierRun(options, version);
  const identity = await identityOf({ config, options, inputs, version });
  if (run) requireSameRun(run.header, identity);
  const { task, model, cutting } = await load(config, options, warn);
  try {
    const reading: Reading = { options, cutting, needed: task.needed };
    const of = { options, model, labels: task.labels, inputs: inputs.length };
    let done: Outcome;
    if (run?.last?.finished) {
      await publish(placesOf(options.output, options.rejects as string), run.last);
      done = { tally: run.last, seconds: run.last.seconds };
    } else {
      const columns = await lookAtInputs(inputs, reading);
      const source: Source = { inputs, reading, task, overruns: run?.overruns ?? [] };
      const stuckAfterMs = stuckAfter(config);
      done = await work({ options, source, identity, columns, run, progress, stuckAfterMs });
    }
    const summary = summarize({ ...of, ...done });
    if (options.summary !== null) await writeSummary(options.summary, summary);
    return summary;
  } finally {
    await task.close();
  }
}

/** A batch that comes back at all has come back by then. */
function stuckAfter({ scheduling, inferenceGraceMs }: Config): number {
  return scheduling.maxQueueDelayMs + scheduling.inferenceTimeoutMs + inferenceGraceMs;
}

/** Of a run that has finished; with `--resume` it stays, so that the same command says so again. */
export async function forgetRun({ output, rejects, resume }: Options): Promise<void> {
  if (output === PIPE || resume) return;
  await rm(placesOf(output, rejects as string).journal, { force: true });
}

async function findEarlierRun(options: Options, version: string): Promise<ReadJournal | null> {
  const { output, rejects, resume, overwrite } = options;
  if (output === PIPE) return null;
  const places = placesOf(output, rejects as string);
  const run = resume ? await findRun(places, version) : null;
  if (run || overwrite) return run;
  // The process was ended before the first line of the journal was whole.
  if (resume) await rm(places.journal, { force: true });
  await requireFree(places);
  return null;
}

async function load(config: Config, options: Options, warn: Voices['warn']) {
  const { task, model } = await loadTask(config, options);
  const { about, warnings } = model;
  warnings.forEach(warn);
  const windows = PRESETS[options.service].task.rows.windowsOf(about);
  const cutting: Cutting | null = windows && {
    windowLength: windows.windowLength,
    step: options.step ?? windows.windowLength,
    channel: options.channel,
    modelChannel: windows.channel,
    modelRate: windows.samplingRateHz,
    givenRate: options.samplingRate,
    resample: options.resample,
    note: warn,
  };
  return { task, model: { name: about.name, version: about.version }, cutting };
}

interface Work {
  readonly options: Options;
  readonly source: Source;
  readonly identity: Identity;
  /** Of files that say them. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  readonly run: ReadJournal | null;
  readonly progress: ProgressDisplay;
  readonly stuckAfterMs: number;
}

interface Outcome {
  readonly tally: Tally;
  readonly seconds: number;
}

async function work(of: Work): Promise<Outcome> {
  const { options, source, run, progress, stuckAfterMs } = of;
  const start = run?.last ?? { input: 0, rows: 0 };
  const chunks = readAhead(readChunks(source, start));
  const first = await chunks.next();
  const layout = run
    ? new Layout(options, source.task, run.header.columns)
    : makeLayout(options, source.task, rowsOf(first.value), of.columns);
  const destination = await openDestination(of, layout);
  try {
    const encoder = makeEncoder(options.outputFormat, options.compression, layout);
    const writer = new ChunkWriter({ inputs: source.inputs, layout, encoder, destination });
    progress.goOnFrom(rowsDone(destination.start));
    if (run?.last) await encoder.restore(run.states, run.last.outputBytes);
    else await writer.start();
    const feeder = new Feeder({
      task: source.task,
      onEnded: progress.ended,
      onOverrun: ({ file, line }, reason) => destination.note({ file, line, reason }),
      stuckAfterMs,
    });
    await runChunks({ chunks, first, layout, writer, feeder, progress }).finally(feeder.close);
    await writer.finish();
    return { tally: writer.tally, seconds: writer.seconds };
  } catch (error) {
    await destination.close().catch(() => {});
    throw error;
  }
}

function rowsOf(chunk: Chunk | undefined) {
  return (chunk?.items ?? []).flatMap(({ row, problem }) => (row && !problem ? [row] : []));
}

function rowsDone({ answered, rejected }: Checkpoint): number {
  return answered + rejected;
}

async function openDestination(
  { options, identity, run }: Work,
  layout: Layout,
): Promise<Destination> {
  const { output, rejects } = options;
  if (output === PIPE) return PipeDestination.open(rejects);
  const places = placesOf(output, rejects as string);
  if (run) return FileDestination.reopen(places, run);
  return FileDestination.create(places, headerOf(identity, layout));
}

interface Running {
  readonly chunks: AsyncIterator<Chunk, undefined>;
  readonly first: IteratorResult<Chunk, undefined>;
  readonly layout: Layout;
  readonly writer: ChunkWriter;
  readonly feeder: Feeder;
  readonly progress: ProgressDisplay;
}

/** Reading, running and writing go on beside each other; each waits where the next one is behind. */
async function runChunks({ chunks, first, layout, writer, feeder, progress }: Running) {
  const writing: Promise<void>[] = [];
  let rows = 0;
  for (let next = first; !next.done; next = await chunks.next()) {
    const chunk = next.value;
    layout.prepare(chunk.items);
    rows += chunk.items.length;
    progress.read(rows, chunk.fraction);
    const { ended } = await feeder.feed(chunk.items);
    const before = writing.at(-1);
    const written = Promise.all([ended, before]).then(() => writer.write(chunk));
    written.catch(() => {}); // it is waited for below
    writing.push(written);
    if (writing.length >= MOST_CHUNKS) await writing.shift();
  }
  await Promise.all(writing);
}

/** The next chunk is read while one runs. */
async function* readAhead(chunks: AsyncGenerator<Chunk>): AsyncGenerator<Chunk, undefined> {
  let next = chunks.next();
  try {
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = chunks.next();
      next.catch(() => {}); // it is waited for above
      yield value;
    }
  } finally {
    await chunks.return(undefined);
  }
}
