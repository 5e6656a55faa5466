import type { InputFile } from '../input-files';
import type { RowFormat } from '../job-spec';
import type { JobTotals } from '../journal/journal';
import type { Position, RowResult } from '../rows';
import type { Destination } from './destination';
import type { OutputEncoder, PredictedRow } from './output-encoder';

/** Rows that wait for a part to be full may take so much, in characters. */
const SIZE_OF_PART = 32 * 1024 ** 2;

export interface WriterParts {
  readonly inputs: readonly InputFile[];
  readonly format: RowFormat;
  readonly encoder: OutputEncoder;
  readonly destination: Destination;
}

/** Writes and counts results in their order: answers to the output, the rest to the rejects. */
export class ResultWriter {
  readonly #parts: WriterParts;
  readonly #startedAt = performance.now();
  readonly #counts: { answered: number; rejected: number; truncated: number };
  readonly #labels: Map<string, number>;
  #position: Position;
  #waiting: PredictedRow[] = [];
  #waitingSize = 0;
  #rejects = '';

  constructor(parts: WriterParts) {
    const { input, rows, answered, rejected, truncated, labels } = parts.destination.start;
    this.#parts = parts;
    this.#counts = { answered, rejected, truncated };
    this.#labels = new Map(Object.entries(labels));
    this.#position = { input, rows };
  }

  /** Of this process and those before. */
  get totals(): JobTotals {
    const { start } = this.#parts.destination;
    const seconds = start.seconds + (performance.now() - this.#startedAt) / 1000;
    return { ...this.#counts, labels: Object.fromEntries(this.#labels), seconds };
  }

  /** To be called where nothing has been written. */
  async start(): Promise<void> {
    await this.#append(await this.#parts.encoder.start());
  }

  /** @param end behind the last one */
  async write(results: readonly RowResult[], end: Position): Promise<void> {
    const { inputs, encoder } = this.#parts;
    this.#position = end;
    for (const { row, prediction, file, line, problem } of results) {
      if (row && prediction !== null) {
        this.#waiting.push({ row, prediction });
        this.#waitingSize += row.size;
        this.#count(prediction);
      } else {
        const reject = { file: inputs[file]?.name, line, reason: problem };
        this.#rejects += `${JSON.stringify(reject)}\n`;
        this.#counts.rejected++;
      }
    }
    const waits = this.#waiting.length < encoder.rowsPerPart && this.#waitingSize < SIZE_OF_PART;
    if (this.#waiting.length === 0 || !waits) await this.#writePart();
  }

  async finish(): Promise<void> {
    const { encoder, destination } = this.#parts;
    if (this.#waiting.length > 0) await this.#writePart();
    // Before the run counts as finished: one that is ended in between writes the same again.
    if (encoder.header) await destination.replaceHead(encoder.header(this.#counts.answered));
    await this.#append(await encoder.finish(), null, true);
    await destination.publish(this.#counts.rejected);
  }

  #count(answer: unknown): void {
    const { labels, truncated } = this.#parts.format.summarize(answer);
    this.#counts.answered++;
    if (truncated) this.#counts.truncated++;
    for (const label of labels) this.#labels.set(label, (this.#labels.get(label) ?? 0) + 1);
  }

  async #writePart(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    this.#waitingSize = 0;
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
