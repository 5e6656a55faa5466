import { readFileSync, writeFileSync } from 'node:fs';

interface TensorEntry {
  readonly dtype: string;
  shape: number[];
  readonly data_offsets: readonly [number, number];
}

export type SafetensorsHeader = Record<string, TensorEntry>;

/** Rewrites the header of a safetensors file; the tensors' bytes stay as they are. */
export function editSafetensors(file: string, edit: (header: SafetensorsHeader) => void): void {
  const content = readFileSync(file);
  const headerEnd = 8 + Number(content.readBigUInt64LE(0));
  const header = JSON.parse(content.toString('utf8', 8, headerEnd)) as SafetensorsHeader;
  edit(header);
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  writeFileSync(file, Buffer.concat([length, json, content.subarray(headerEnd)]));
}

/** Sets all numbers of tensors to 0. */
export function zeroSafetensors(file: string, which: RegExp): void {
  const content = readFileSync(file);
  const begin = 8 + Number(content.readBigUInt64LE(0));
  const header = JSON.parse(content.toString('utf8', 8, begin)) as SafetensorsHeader;
  for (const [name, { data_offsets }] of Object.entries(header)) {
    if (which.test(name)) content.fill(0, begin + data_offsets[0], begin + data_offsets[1]);
  }
  writeFileSync(file, content);
}
