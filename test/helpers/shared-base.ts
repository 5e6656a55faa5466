import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { editJson, type StoredTensor, writeSafetensors } from './lora';
import type { SafetensorsHeader } from './safetensors';
import { FIXTURES } from './service';

/** A classifier of test/fixtures/models with three labels, in float32. */
const BASE = path.join(FIXTURES, 'models', 'bert-single-label');
/** Tensors of the head: the pooler and the classifier. */
const HEAD = /^bert\.pooler\.|^classifier\./;

export type Tensors = Readonly<Record<string, StoredTensor>>;

/** Reads a safetensors file of float32 tensors. */
export function readSafetensors(file: string): Record<string, StoredTensor> {
  const content = readFileSync(file);
  const begin = 8 + Number(content.readBigUInt64LE(0));
  const header = JSON.parse(content.toString('utf8', 8, begin)) as SafetensorsHeader;
  return Object.fromEntries(
    Object.entries(header)
      .filter(([name]) => name !== '__metadata__')
      .map(
        ([
          name,
          {
            shape,
            data_offsets: [from, to],
          },
        ]) => {
          const bytes = Uint8Array.from(content.subarray(begin + from, begin + to));
          return [name, { shape, values: new Float32Array(bytes.buffer) }];
        },
      ),
  );
}

/** Distinct numbers between -0.5 and 0.5. */
function numbers(count: number, seed: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  });
}

/**
 * Writes a classifier on a frozen base: the encoder and the tokenizer of the base, a head of its own.
 *
 * @param base folder of the base; default: a small BERT
 * @param edit changes tensors before they are written
 */
export function writeClassifier(
  folder: string,
  seed: number,
  { base = BASE, edit = (tensors: Tensors): Tensors => tensors } = {},
): void {
  cpSync(base, folder, { recursive: true });
  const labels = 2 + (seed % 3);
  const file = path.join(folder, 'model.safetensors');
  const tensors = Object.entries(readSafetensors(file)).map(([name, { shape, values }]) => {
    if (!HEAD.test(name)) return [name, { shape, values }] as const;
    const own = name.startsWith('classifier.') ? [labels, ...shape.slice(1)] : shape;
    const count = own.reduce((product, size) => product * size, 1);
    return [name, { shape: own, values: numbers(count, seed) }] as const;
  });
  writeSafetensors(file, edit(Object.fromEntries(tensors)));
  const names = Array.from({ length: labels }, (_, label) => `label ${seed}.${label}`);
  editJson(folder, 'config.json', {
    id2label: { ...names },
    label2id: Object.fromEntries(names.map((name, label) => [name, label])),
    num_labels: labels,
  });
}
