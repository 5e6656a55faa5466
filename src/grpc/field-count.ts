import type { Counted } from '../protocols/grpc-service';

const [VARINT, FIXED64, LENGTH_DELIMITED, FIXED32] = [0, 1, 2, 5];
/** Of a varint; a longer one is no protobuf. */
const MOST_BYTES = 10;

/**
 * How many fields a message has, those in messages within it included, and numbers that are packed; at
 * most a few more than `most`. protobufjs takes a microsecond and more for each, so that a megabyte of
 * empty ones would hold the event loop for over a second; to count them takes milliseconds. Of what is
 * no protobuf as much is counted as can be read.
 */
export function countFields(bytes: Buffer, counted: Counted, most: number): number {
  let count = 0;

  function walk(start: number, end: number, fields: Counted): void {
    let offset = start;

    /** NaN: it does not end, and then nothing that follows is looked at. */
    function varint(): number {
      let value = 0;
      for (let i = 0; i < MOST_BYTES && offset < end; i++) {
        const byte = bytes[offset++] as number;
        value += (byte & 0x7f) * 2 ** (7 * i);
        if (byte < 0x80) return value;
      }
      return Number.NaN;
    }

    while (offset < end && count <= most) {
      const tag = varint();
      count++;
      const type = tag % 8;
      if (type === VARINT) varint();
      else if (type === FIXED64) offset += 8;
      else if (type === FIXED32) offset += 4;
      else if (type === LENGTH_DELIMITED) {
        const length = varint();
        if (!(length <= end - offset)) return;
        const within = fields[Math.floor(tag / 8)];
        if (within === 'packed')
          count += length; // at least a byte each
        else if (within) walk(offset, offset + length, within);
        offset += length;
      } else return;
    }
  }

  walk(0, bytes.length, counted);
  return count;
}
