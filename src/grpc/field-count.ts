import type { CountedFields } from '../protocols/grpc-service';

/** Wire types of protobuf. */
const [VARINT, FIXED64, LENGTH_DELIMITED, FIXED32] = [0, 1, 2, 5];
/** Maximum bytes of a varint in protobuf. */
const MAX_VARINT_BYTES = 10;

/**
 * Counts the fields of a protobuf message, including nested messages and elements of packed lists. Stops shortly after
 * `max`. protobufjs needs more than 1 µs per field, so a megabyte of empty fields would block the event loop for over
 * a second; counting them takes milliseconds. In invalid protobuf, the fields up to the first error count.
 */
export function countFields(bytes: Buffer, counted: CountedFields, max: number): number {
  let count = 0;

  function countIn(start: number, end: number, fields: CountedFields): void {
    let offset = start;

    /** Reads a varint. NaN: it does not end, which stops the count. */
    function varint(): number {
      let value = 0;
      for (let i = 0; i < MAX_VARINT_BYTES && offset < end; i++) {
        const byte = bytes[offset++] as number;
        value += (byte & 0x7f) * 2 ** (7 * i);
        if (byte < 0x80) return value;
      }
      return Number.NaN;
    }

    while (offset < end && count <= max) {
      const tag = varint();
      count++;
      const type = tag % 8;
      if (type === VARINT) varint();
      else if (type === FIXED64) offset += 8;
      else if (type === FIXED32) offset += 4;
      else if (type === LENGTH_DELIMITED) {
        const length = varint();
        if (!(length <= end - offset)) return;
        const nested = fields[Math.floor(tag / 8)];
        if (nested === 'packed')
          count += length; // upper bound: each element has at least one byte
        else if (nested) countIn(offset, offset + length, nested);
        offset += length;
      } else return;
    }
  }

  countIn(0, bytes.length, counted);
  return count;
}
