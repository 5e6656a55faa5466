/** Bytes of a number by its format in XDF. */
export const NUMBER_BYTES = {
  float32: 4,
  double64: 8,
  int8: 1,
  int16: 2,
  int32: 4,
  int64: 8,
} as const;
export type NumberFormat = keyof typeof NUMBER_BYTES;

/** Problem in the bytes of a chunk. */
export class DamageError extends Error {
  override readonly name = 'DamageError';
}

/** Reads little-endian values of a range of bytes; reading beyond its end is a `DamageError`. */
export class ByteReader {
  readonly #view: DataView;
  readonly #end: number;
  at: number;

  /** @param end offset after the last byte */
  constructor(view: DataView, start: number, end: number) {
    this.#view = view;
    this.#end = Math.min(end, view.byteLength);
    this.at = start;
  }

  get left(): number {
    return this.#end - this.at;
  }

  uint8(): number {
    return this.#view.getUint8(this.skip(1));
  }

  uint16(): number {
    return this.#view.getUint16(this.skip(2), true);
  }

  uint32(): number {
    return this.#view.getUint32(this.skip(4), true);
  }

  float64(): number {
    return this.#view.getFloat64(this.skip(8), true);
  }

  number(format: NumberFormat): number {
    const view = this.#view;
    switch (format) {
      case 'float32':
        return view.getFloat32(this.skip(4), true);
      case 'double64':
        return view.getFloat64(this.skip(8), true);
      case 'int8':
        return view.getInt8(this.skip(1));
      case 'int16':
        return view.getInt16(this.skip(2), true);
      case 'int32':
        return view.getInt32(this.skip(4), true);
      case 'int64':
        return Number(view.getBigInt64(this.skip(8), true));
    }
  }

  /** Integer of 1, 4 or 8 bytes, after a byte with their number. */
  length(): number {
    const bytes = this.uint8();
    if (bytes === 1) return this.uint8();
    if (bytes === 4) return this.uint32();
    if (bytes !== 8) throw new DamageError('a length that is not of 1, 4 or 8 bytes');
    const low = this.uint32();
    return this.uint32() * 2 ** 32 + low;
  }

  bytes(length: number): Uint8Array {
    return new Uint8Array(this.#view.buffer, this.#view.byteOffset + this.skip(length), length);
  }

  /** @returns offset of the first skipped byte */
  skip(length: number): number {
    if (length > this.left) throw new DamageError('truncated');
    this.at += length;
    return this.at - length;
  }
}
