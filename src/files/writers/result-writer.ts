import { type Counts, countMore, type Outcome } from '../counts';
import type { Input } from '../inputs';
import type { Layout } from '../layout';
import type { Position, Result } from '../rows';
import type { Destination } from './destination';
import type { Answered, Encoder } from './encoder';

/** Rows that wait for a part to be full may take so much, in characters. */
const SIZE_OF_PART = 32 * 1024 ** 2;

export interface WriterParts {
  readonly inputs: readonly Input[];
  readonly layout: Layout;
  readonly encoder: Encoder;
  readonly destination: Destination;
}

/** Writes results in their order: answers to the output, the rest to the rejects. */
export class ResultWriter {
  readonly #parts: WriterParts;
  readonly #startedAt = performance.now();
  #counts: Counts;
  #position: Position;
  #waiting: Answered[] = [];
  #waitingSize = 0;
  #rejects: string[] = [];

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#counts = parts.destination.start;
    this.#position = parts.destination.start;
  }

  /** Of this process and those before, with the seconds that they took. */
  get outcome(): Outcome {
    return { ...this.#counts, seconds: this.#seconds };
  }

  get #seconds(): number {
    return this.#parts.destination.start.seconds + (performance.now() - this.#startedAt) / 1000;
  }

  /** To be called where nothing has been written. */
  async start(): Promise<void> {
    await this.#append(await this.#parts.encoder.start());
  }

  /** @param end behind the last one */
  async write(results: readonly Result[], end: Position): Promise<void> {
    const { layout, inputs, encoder } = this.#parts;
    this.#counts = countMore(this.#counts, results, layout.format);
    this.#position = end;
    for (const { row, answer, file, line, problem } of results) {
      if (row && answer !== null) {
        this.#waiting.push({ row, answer });
        this.#waitingSize += row.size;
      } else {
        const reject = { file: inputs[file]?.name, line, reason: problem };
        this.#rejects.push(`${JSON.stringify(reject)}\n`);
      }
    }
    const waits = this.#waiting.length < encoder.rowsOfPart && this.#waitingSize < SIZE_OF_PART;
    if (this.#waiting.length === 0 || !waits) await this.#writePart();
  }

  async finish(): Promise<void> {
    const { encoder, destination } = this.#parts;
    if (this.#waiting.length > 0) await this.#writePart();
    await this.#append(await encoder.finish(), null, true);
    await destination.publish(this.#counts.rejected);
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
    const rejects = Buffer.from(this.#rejects.join(''));
    this.#rejects = [];
    const { input, rows } = this.#position;
    const { answered, rejected, truncated, labels } = this.#counts;
    const done = { input, rows, answered, rejected, truncated, labels };
    const { destination } = this.#parts;
    await destination.append(output, rejects, { ...done, seconds: this.#seconds, state, finished });
  }
}
