/** Of each message: whether it is compressed (1 byte), and its length (4 bytes, big endian). */
const HEAD_BYTES = 5;

export interface MessageHead {
  readonly isCompressed: boolean;
  /** Of the message that follows, on its way. */
  readonly bytes: number;
}

/** Finds where messages begin in the bytes of one stream, however these are cut. */
export class MessageHeads {
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headBytes = 0;
  /** Of the message that has begun. */
  #missing = 0;

  /** The next bytes of the stream; returns the heads that end in them. */
  read(data: Buffer): readonly MessageHead[] {
    const heads: MessageHead[] = [];
    let offset = 0;
    while (offset < data.length) {
      if (this.#missing > 0) {
        const taken = Math.min(this.#missing, data.length - offset);
        this.#missing -= taken;
        offset += taken;
        continue;
      }
      const copied = data.copy(this.#head, this.#headBytes, offset);
      offset += copied;
      this.#headBytes += copied;
      if (this.#headBytes < HEAD_BYTES) break;
      this.#headBytes = 0;
      this.#missing = this.#head.readUInt32BE(1);
      heads.push({ isCompressed: this.#head[0] !== 0, bytes: this.#missing });
    }
    return heads;
  }
}
