import type { Input } from '../inputs';
import type { Outcome } from '../journal/journal';
import type { RowFormat } from '../plan';
import type { Position, Result } from '../rows';
import type { Destination } from './destination';
import type { Answered, Encoder } from './encoder';

/** Rows that wait for a part to be full may take so much, in characters. */
const SIZE_OF_PART = 32 * 1024 ** 2;

export interface WriterParts {
  readonly inputs: readonly Input[];
  readonly format: RowFormat;
  readonly encoder: Encoder;
  readonly destination: Destination;
}

/** Writes and counts results in their order: answers to the output, the rest to the rejects. */
export class ResultWriter {
  readonly #parts: WriterParts;
  readonly #startedAt = performance.now();
  readonly #counts: { answered: number; rejected: number; truncated: number };
  readonly #labels: Map<string, number>;
  #position: Position;
  #waiting: Answered[] = [];
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
  get outcome(): Outcome {
    const { start } = this.#parts.destination;
    const seconds = start.seconds + (performance.now() - this.#startedAt) / 1000;
    return { ...this.#counts, labels: Object.fromEntries(this.#labels), seconds };
  }

  /** To be called where nothing has been written. */
  async start(): Promise<void> {
    await this.#append(await this.#parts.encoder.start());
  }

  /** @param end behind the last one */
  async write(results: readonly Result[], end: Position): Promise<void> {
    const { inputs, encoder } = this.#parts;
    this.#position = end;
    for (const { row, answer, file, line, problem } of results) {
      if (row && answer !== null) {
        this.#waiting.push({ row, answer });
        this.#waitingSize += row.size;
        this.#count(answer);
      } else {
        const reject = { file: inputs[file]?.name, line, reason: problem };
        this.#rejects += `${JSON.stringify(reject)}\n`;
        this.#counts.rejected++;
      }
    }
    const waits = this.#waiting.length < encoder.rowsOfPart && this.#waitingSize < SIZE_OF_PART;
    if (this.#waiting.length === 0 || !waits) await this.#writePart();
  }

  async finish(): Promise<void> {
    const { encoder, destination } = this.#parts;
    if (this.#waiting.length > 0) await this.#writePart();
    // Before the run counts as finished: one that is ended in between writes the same again.
    if (encoder.head) await destination.replaceHead(encoder.head(this.#counts.answered));
    await this.#append(await encoder.finish(), null, true);
    await destination.publish(this.#counts.rejected);
  }

  #count(answer: unknown): void {
    const { labels, truncated } = this.#parts.format.count(answer);
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
    const done = { ...this.#position, ...this.outcome, state, finished };
    await this.#parts.destination.append(output, rejects, done);
  }
}
