import { endianness } from 'node:os';
import type { OutputSchema } from '../output-schema';
import type { OutputEncoder } from './output-encoder';

/** Header size of NumPy, which leaves space for a growing row count. */
const HEADER_BYTES = 128;
const MAGIC = Buffer.from('\x93NUMPY\x01\x00', 'latin1');

/** Encodes vectors as a NumPy file: float32 [rows, dimensions], C order. The final header has the row count. */
export function npyEncoder({ resultFields }: OutputSchema): OutputEncoder {
  const member = resultFields.find(({ type }) => type === 'vector');
  if (!member) throw new Error('no vector to write');
  const { length = 0, extract } = member;
  return {
    rowsPerPart: 1,
    start: async () => header(0, length),
    part: async (rows) => {
      const values = new Float32Array(rows.length * length);
      for (const [at, { prediction }] of rows.entries())
        values.set(extract(prediction) as Float32Array, at * length);
      const bytes = Buffer.from(values.buffer);
      return { bytes: endianness() === 'LE' ? bytes : bytes.swap32(), state: null };
    },
    finish: async () => Buffer.alloc(0),
    header: (rows) => header(rows, length),
    restore: async () => {},
  };
}

/** Header in format version 1.0 of numpy.lib.format. */
function header(rows: number, length: number): Buffer {
  const shape = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${length}), }`;
  const size = Buffer.alloc(2);
  const width = HEADER_BYTES - MAGIC.length - size.length;
  size.writeUInt16LE(width);
  return Buffer.concat([MAGIC, size, Buffer.from(`${shape.padEnd(width - 1)}\n`)]);
}
