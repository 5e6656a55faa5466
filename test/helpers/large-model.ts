import {
  closeSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { FIXTURES } from './service';

const HIDDEN = 768;
const INTERMEDIATE = 3072;
const LAYERS = 12;
const SIZES = {
  hidden_size: HIDDEN,
  intermediate_size: INTERMEDIATE,
  num_attention_heads: 12,
  max_position_embeddings: 512,
  vocab_size: 30_522,
};

/**
 * Writes a BERT of base size: its 438 MB take a second or more to load. All weights are 0, of which the
 * file system stores none; they are read and packed as others are.
 *
 * @param folder which is made
 * @param layers of the encoder; each has 28 MB, and the embeddings have 95 MB
 */
export function writeLargeModel(folder: string, layers = LAYERS): void {
  const small = path.join(FIXTURES, 'models', 'bert-single-label');
  mkdirSync(folder, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json']) {
    cpSync(path.join(small, file), path.join(folder, file));
  }
  const config = JSON.parse(readFileSync(path.join(small, 'config.json'), 'utf8')) as object;
  const sizes = { ...SIZES, num_hidden_layers: layers };
  writeFileSync(path.join(folder, 'config.json'), JSON.stringify({ ...config, ...sizes }));
  writeZeros(path.join(folder, 'model.safetensors'), shapes(layers));
}

function shapes(count: number): readonly (readonly [name: string, shape: readonly number[]])[] {
  const linear = (name: string, outputs: number, inputs: number) =>
    [
      [`${name}.weight`, [outputs, inputs]],
      [`${name}.bias`, [outputs]],
    ] as const;
  const norm = (name: string) =>
    [
      [`${name}.weight`, [HIDDEN]],
      [`${name}.bias`, [HIDDEN]],
    ] as const;
  const layers = Array.from({ length: count }, (_, i) => `bert.encoder.layer.${i}`);
  const embeddings = 'bert.embeddings';
  return [
    [`${embeddings}.word_embeddings.weight`, [SIZES.vocab_size, HIDDEN]],
    [`${embeddings}.position_embeddings.weight`, [SIZES.max_position_embeddings, HIDDEN]],
    [`${embeddings}.token_type_embeddings.weight`, [2, HIDDEN]],
    ...norm(`${embeddings}.LayerNorm`),
    ...layers.flatMap((layer) => [
      ...['query', 'key', 'value'].flatMap((name) =>
        linear(`${layer}.attention.self.${name}`, HIDDEN, HIDDEN),
      ),
      ...linear(`${layer}.attention.output.dense`, HIDDEN, HIDDEN),
      ...norm(`${layer}.attention.output.LayerNorm`),
      ...linear(`${layer}.intermediate.dense`, INTERMEDIATE, HIDDEN),
      ...linear(`${layer}.output.dense`, HIDDEN, INTERMEDIATE),
      ...norm(`${layer}.output.LayerNorm`),
    ]),
    ...linear('bert.pooler.dense', HIDDEN, HIDDEN),
    ...linear('classifier', 3, HIDDEN),
  ];
}

function writeZeros(file: string, tensors: ReturnType<typeof shapes>): void {
  let end = 0;
  const header = tensors.map(([name, shape]) => {
    const start = end;
    end += 4 * shape.reduce((product, size) => product * size, 1);
    return [name, { dtype: 'F32', shape, data_offsets: [start, end] }] as const;
  });
  const text = JSON.stringify(Object.fromEntries(header));
  // As safetensors pads it: numbers at other addresses are copied when they are loaded.
  const json = Buffer.from(text.padEnd(8 * Math.ceil(text.length / 8)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const descriptor = openSync(file, 'w');
  writeSync(descriptor, Buffer.concat([length, json]));
  ftruncateSync(descriptor, length.length + json.length + end);
  closeSync(descriptor);
}
