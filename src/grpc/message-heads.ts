/** Of each message: whether it is compressed (1 byte), and its length (4 bytes, big endian). */
const HEAD_BYTES = 5;

export interface MessageHead {
  readonly isCompressed: boolean;
  /** Of the message that follows, on its way. */
  readonly bytes: number;
}

export interface MessagePart {
  /** That belong to the message, of those that were given. */
  readonly bytes: number;
  /** Null: its head does not end in them. */
  readonly head: MessageHead | null;
  readonly isWhole: boolean;
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
    for (let offset = 0; offset < data.length; ) {
      const { bytes, head } = this.readMessage(data.subarray(offset));
      if (head) heads.push(head);
      offset += bytes;
    }
    return heads;
  }

  /** The same up to the end of the message that is on its way, or begins. */
  readMessage(data: Buffer): MessagePart {
    let head: MessageHead | null = null;
    let offset = 0;
    if (this.#missing === 0) {
      offset = data.copy(this.#head, this.#headBytes);
      this.#headBytes += offset;
      if (this.#headBytes < HEAD_BYTES) return { bytes: offset, head, isWhole: false };
      this.#headBytes = 0;
      this.#missing = this.#head.readUInt32BE(1);
      head = { isCompressed: this.#head[0] !== 0, bytes: this.#missing };
    }
    const taken = Math.min(this.#missing, data.length - offset);
    this.#missing -= taken;
    return { bytes: offset + taken, head, isWhole: this.#missing === 0 };
  }
}
