import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { z } from 'zod';

/** Maximum size of a safetensors header; usual headers are below 1 MB. */
const MAX_HEADER_BYTES = 100e6;

const size = z.int().nonnegative();
const tensorSchema = z.looseObject({
  shape: z.array(size),
  data_offsets: z.tuple([size, size]),
});
const headerSchema = z.record(z.string(), tensorSchema);

export type StoredTensor = z.output<typeof tensorSchema>;

export interface SafetensorsHeader {
  readonly tensors: Readonly<Record<string, StoredTensor>>;
  /** Offset of the weights in the file. */
  readonly begin: number;
}

/** Reads the header of a safetensors file: length (8 bytes), then JSON. Null: invalid header. */
export function readSafetensorsHeader(file: string): SafetensorsHeader | null {
  const opened = openSync(file, 'r');
  try {
    const length = Buffer.alloc(8);
    readSync(opened, length);
    const bytes = Number(length.readBigUInt64LE());
    if (bytes > Math.min(MAX_HEADER_BYTES, fstatSync(opened).size)) return null;
    const text = Buffer.alloc(bytes);
    readSync(opened, text, 0, bytes, 8);
    const { __metadata__: _, ...content } = JSON.parse(text.toString());
    return { tensors: headerSchema.parse(content), begin: 8 + bytes };
  } catch {
    return null;
  } finally {
    closeSync(opened);
  }
}
