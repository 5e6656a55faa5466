/** A random model of model2vec with the vocabulary of a tokenizer.json. */
import fs from 'node:fs';
import path from 'node:path';

const VECTOR_RANGE = 0.2;

/** Seeded numbers between -0.1 and 0.1. */
function randomVectors(size) {
  let state = 1;
  return Float32Array.from({ length: size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32 - 0.5) * VECTOR_RANGE;
  });
}

/** Number of rows that the ids of the vocabulary need. */
function rowsOf(tokenizer) {
  const ids = [
    ...Object.values(tokenizer.model.vocab),
    ...(tokenizer.added_tokens ?? []).map(({ id }) => id),
  ];
  return ids.reduce((most, id) => Math.max(most, id), 0) + 1;
}

/** @param tokenizerFile a tokenizer.json with a vocabulary by token, as of WordPiece or BPE */
export function writeStaticModel(folder, tokenizerFile, dimensions) {
  const tokenizer = JSON.parse(fs.readFileSync(tokenizerFile, 'utf8'));
  const rows = rowsOf(tokenizer);
  const vectors = randomVectors(rows * dimensions);
  const tensor = { dtype: 'F32', shape: [rows, dimensions], data_offsets: [0, vectors.byteLength] };
  const header = Buffer.from(JSON.stringify({ embeddings: tensor }).padEnd(128));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(
    path.join(folder, 'model.safetensors'),
    Buffer.concat([size, header, Buffer.from(vectors.buffer)]),
  );
  const config = {
    model_type: 'model2vec',
    normalize: true,
    max_length: 512,
    embedding_dtype: 'float32',
  };
  fs.writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
  const type = 'sentence_transformers.models.StaticEmbedding';
  const modules = [{ idx: 0, name: '0', path: '.', type }];
  fs.writeFileSync(path.join(folder, 'modules.json'), JSON.stringify(modules));
  const own = { ...tokenizer, truncation: null, padding: null };
  fs.writeFileSync(path.join(folder, 'tokenizer.json'), JSON.stringify(own));
}
