/** Joins the parts of lines that span several blocks. */
export class LineBuffer {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  /** @param maxBytes maximum length of a line; longer lines are not buffered */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) this.#parts = [];
    else this.#parts.push(part);
  }

  /** Returns the complete line; null if it is too long. */
  finish(last: Buffer): Buffer | null {
    const parts = this.#parts;
    const bytes = this.#bytes + last.length;
    this.#parts = [];
    this.#bytes = 0;
    if (bytes > this.#maxBytes) return null;
    return parts.length === 0 ? last : Buffer.concat([...parts, last]);
  }
}
