import type { Chunk, Item, Position } from './chunks';
import type { Input } from './inputs/expand';
import type { Answered, Layout } from './layout';
import type { Destination } from './outputs/destination';
import type { Encoder } from './outputs/encoder';
import { add, type Tally } from './tally';

/** Rows that wait for a part to be full may take so much, in characters. */
const SIZE_OF_PART = 32 * 1024 ** 2;

export interface WriterParts {
  readonly inputs: readonly Input[];
  readonly layout: Layout;
  readonly encoder: Encoder;
  readonly destination: Destination;
}

/** Writes chunks in their order: answers to the output, the rest to the rejects. */
export class ChunkWriter {
  readonly #parts: WriterParts;
  readonly #startedAt = performance.now();
  #tally: Tally;
  #waiting: Answered[] = [];
  #waitingSize = 0;
  #rejects: string[] = [];
  #position: Position;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#tally = parts.destination.start;
    this.#position = parts.destination.start;
  }

  get tally(): Tally {
    return this.#tally;
  }

  /** In this process and those before. */
  get seconds(): number {
    const here = (performance.now() - this.#startedAt) / 1000;
    return this.#parts.destination.start.seconds + here;
  }

  /** To be called where nothing has been written. */
  async start(): Promise<void> {
    await this.#append(await this.#parts.encoder.start(), null, false);
  }

  async write({ items, end }: Chunk): Promise<void> {
    this.#tally = add(this.#tally, tallyOf(items));
    for (const { row, answer, ...item } of items) {
      if (row && answer) {
        this.#waiting.push({ row, answer });
        this.#waitingSize += row.size;
      } else {
        this.#rejects.push(this.#rejectOf(item));
      }
    }
    this.#position = end;
    const { rowsOfPart } = this.#parts.encoder;
    if (this.#waiting.length < rowsOfPart && this.#waitingSize < SIZE_OF_PART) {
      if (this.#waiting.length > 0) return;
    }
    await this.#writePart();
  }

  async finish(): Promise<void> {
    if (this.#waiting.length > 0) await this.#writePart();
    await this.#append(await this.#parts.encoder.finish(), null, true);
    await this.#parts.destination.publish();
  }

  async #writePart(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    this.#waitingSize = 0;
    if (rows.length === 0) return this.#append(Buffer.alloc(0), null, false);
    const { bytes, state } = await this.#parts.encoder.part(rows);
    await this.#append(bytes, state, false);
  }

  async #append(output: Buffer, state: string | null, finished: boolean): Promise<void> {
    const rejects = Buffer.from(this.#rejects.join(''));
    this.#rejects = [];
    const { input, rows } = this.#position;
    const { answered, rejected, truncated, labels } = this.#tally;
    await this.#parts.destination.append(output, rejects, {
      ...{ input, rows, answered, rejected, truncated, labels },
      seconds: this.seconds,
      state,
      finished,
    });
  }

  #rejectOf({ file, line, problem }: Pick<Item, 'file' | 'line' | 'problem'>): string {
    const { name } = this.#parts.inputs[file] as Input;
    return `${JSON.stringify({ file: name, line, reason: problem })}\n`;
  }
}

function tallyOf(items: readonly Item[]): Tally {
  const labels = new Map<string, number>();
  let answered = 0;
  let truncated = 0;
  for (const { answer } of items) {
    if (!answer) continue;
    answered++;
    if (answer.truncated) truncated++;
    labels.set(answer.label, (labels.get(answer.label) ?? 0) + 1);
  }
  const rejected = items.length - answered;
  return { answered, rejected, truncated, labels: Object.fromEntries(labels) };
}
