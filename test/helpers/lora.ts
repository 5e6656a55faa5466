import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FIXTURES } from './service';

const LORA = path.join(FIXTURES, 'lora');

export interface StoredTensor {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** Writes a safetensors file of float32 tensors. */
export function writeSafetensors(file: string, tensors: Readonly<Record<string, StoredTensor>>) {
  let end = 0;
  const header = Object.entries(tensors).map(([name, { shape, values }]) => {
    const begin = end;
    end += values.byteLength;
    return [name, { dtype: 'F32', shape, data_offsets: [begin, end] }] as const;
  });
  const text = JSON.stringify(Object.fromEntries(header));
  const json = Buffer.from(text.padEnd(8 * Math.ceil(text.length / 8)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const numbers = Object.values(tensors).map(({ values }) => Buffer.from(values.buffer));
  writeFileSync(file, Buffer.concat([length, json, ...numbers]));
}

/** Copies a base model or an adapter of test/fixtures/lora to a folder of models. */
export function copyLora(models: string, name: string, as = name): string {
  const folder = path.join(models, as);
  mkdirSync(path.dirname(folder), { recursive: true });
  cpSync(path.join(LORA, name), folder, { recursive: true });
  return folder;
}

/** Changes entries of a JSON file of a model; creates the file if it does not exist. */
export function editJson(folder: string, name: string, entries: object): void {
  const file = path.join(folder, name);
  let content = {};
  try {
    content = JSON.parse(readFileSync(file, 'utf8')) as object;
  } catch {
    // a new file
  }
  writeFileSync(file, JSON.stringify({ ...content, ...entries }));
}
