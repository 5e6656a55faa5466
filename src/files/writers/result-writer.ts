import type { InputFile } from '../input-files';
import type { RowFormat, WindowResult } from '../job-spec';
import type { JobTotals, RecordingTotals } from '../journal/journal';
import type { Position, Row, RowResult } from '../rows';
import type { Destination } from './destination';
import type { OutputEncoder, PredictedRow } from './output-encoder';

/** Maximum size of the rows buffered for a part, in characters. */
const CHARACTERS_PER_PART = 32 * 1024 ** 2;

export interface WriterParts {
  readonly inputs: readonly InputFile[];
  readonly format: RowFormat;
  readonly encoder: OutputEncoder;
  readonly destination: Destination;
}

/** Writes and counts results in input order: predictions to the output, errors to the rejects. */
export class ResultWriter {
  readonly #parts: WriterParts;
  readonly #startedAt = performance.now();
  readonly #counts: { answered: number; rejected: number; truncated: number };
  readonly #labels: Map<string, number>;
  readonly #recordings: Map<string, RecordingTotals>;
  #position: Position;
  #buffered: PredictedRow[] = [];
  #bufferedSize = 0;
  #rejects = '';

  constructor(parts: WriterParts) {
    const { input, rows, answered, rejected, truncated, labels, recordings } =
      parts.destination.start;
    this.#parts = parts;
    this.#counts = { answered, rejected, truncated };
    this.#labels = new Map(Object.entries(labels));
    this.#recordings = new Map(Object.entries(recordings));
    this.#position = { input, rows };
  }

  /** Totals of this and earlier processes. */
  get totals(): JobTotals {
    const { start } = this.#parts.destination;
    const seconds = start.seconds + (performance.now() - this.#startedAt) / 1000;
    const labels = Object.fromEntries(this.#labels);
    return { ...this.#counts, labels, recordings: Object.fromEntries(this.#recordings), seconds };
  }

  /** Writes the start of a new file. */
  async start(): Promise<void> {
    await this.#append(await this.#parts.encoder.start());
  }

  /** @param end position after the last result */
  async write(results: readonly RowResult[], end: Position): Promise<void> {
    const { inputs, encoder, format } = this.#parts;
    this.#position = end;
    for (const { row, prediction, file, line, problem } of results) {
      if (row && prediction !== null) {
        this.#buffered.push({ row, prediction });
        this.#bufferedSize += row.size;
        this.#count(prediction, row, inputs[file]?.name ?? '');
      } else {
        const reject = { file: inputs[file]?.name, line, reason: problem };
        this.#rejects += `${JSON.stringify(reject)}\n`;
        this.#counts.rejected++;
      }
    }
    const { charactersPerPart = CHARACTERS_PER_PART } = format;
    const isPartial =
      this.#buffered.length < encoder.rowsPerPart && this.#bufferedSize < charactersPerPart;
    if (this.#buffered.length === 0 || !isPartial) await this.#writePart();
  }

  async finish(): Promise<void> {
    const { encoder, destination } = this.#parts;
    if (this.#buffered.length > 0) await this.#writePart();
    // Precedes the final checkpoint: after a crash in between, the resumed job writes the header again.
    if (encoder.header) await destination.replaceHead(encoder.header(this.#counts.answered));
    await this.#append(await encoder.finish(), null, true);
    await destination.publish(this.#counts.rejected);
  }

  #count(prediction: unknown, row: Row, input: string): void {
    const { labels, truncated, window } = this.#parts.format.summarize(prediction, row);
    this.#counts.answered++;
    if (truncated) this.#counts.truncated++;
    for (const label of labels) this.#labels.set(label, (this.#labels.get(label) ?? 0) + 1);
    if (window) this.#recordings.set(input, withWindow(this.#recordings.get(input), window));
  }

  async #writePart(): Promise<void> {
    const rows = this.#buffered;
    this.#buffered = [];
    this.#bufferedSize = 0;
    if (rows.length === 0) return this.#append(Buffer.alloc(0));
    const { bytes, state } = await this.#parts.encoder.part(rows);
    await this.#append(bytes, state);
  }

  async #append(output: Buffer, state: string | null = null, finished = false): Promise<void> {
    const rejects = Buffer.from(this.#rejects);
    this.#rejects = '';
    const done = { ...this.#position, ...this.totals, state, finished };
    await this.#parts.destination.append(output, rejects, done);
  }
}

function withWindow(
  totals: RecordingTotals | undefined,
  { label, scores, expected }: WindowResult,
): RecordingTotals {
  const { windows = 0, labels = {}, scores: sums = {}, compared = 0, agreed = 0 } = totals ?? {};
  const names = Object.keys(scores);
  return {
    windows: windows + 1,
    labels: { ...labels, [label]: (labels[label] ?? 0) + 1 },
    scores: Object.fromEntries(
      names.map((name) => [name, (sums[name] ?? 0) + (scores[name] as number)]),
    ),
    compared: compared + (expected === null ? 0 : 1),
    agreed: agreed + (expected === label ? 1 : 0),
  };
}
