/**
 * What the number formats cost embeddings: the cosine of each text's vector to float32's, and how many of
 * the ranks of 100 documents stay, for each DTYPE.
 *
 *   node bench/embedding-accuracy.mjs MODEL_DIR texts.tsv [more.tsv …] [--pooling mean] [--max-length 256]
 *       [--formats float32,bfloat16,int8] [--texts 1000]
 *
 * A text is what stands before the first tab of a line; a line "sentence" is a heading. The model is an
 * encoder whose vectors are pooled and normalized. Of the texts the first 50 are queries, the next 100
 * documents. Kendall's tau is tau-b. Needs a built service (npm run build). A format is measured whether or
 * not it is faster than float32 here.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine, machineType } from './machine.mjs';
import { compareRanks, mean } from './ranks.mjs';
import { SCHEDULING, textsOf } from './texts.mjs';

const require = createRequire(import.meta.url);
const { Engine } = require('../dist/native/engine.js');
const HUGGING_FACE = '../dist/models/hugging-face';
const { modelConfig, readDirectory, weightsSource } = require(`${HUGGING_FACE}/directory.js`);
const { findModelFiles } = require(`${HUGGING_FACE}/weight-files.js`);

const QUERIES = 50;
const DOCUMENTS = 100;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pooling: { type: 'string', default: 'mean' },
    'max-length': { type: 'string', default: '256' },
    formats: { type: 'string', default: 'float32,bfloat16,int8' },
    texts: { type: 'string', default: '1000' },
  },
});
const [directory, ...files] = positionals;
if (files.length === 0) {
  console.error('usage: node bench/embedding-accuracy.mjs MODEL_DIR texts.tsv [more.tsv …]');
  process.exit(2);
}

const texts = textsOf(files).slice(0, Number(options.texts));

/** The vector of each text, of length 1. */
async function embed(dtype) {
  const place = path.resolve(directory);
  const { config } = readDirectory(place, modelConfig);
  const { weightFiles } = findModelFiles(place);
  const pooling = { type: 'pooling', modes: options.pooling.split(','), includePrompt: true };
  const head = { name: 'embedding', modules: [pooling, { type: 'normalize' }] };
  const source = {
    ...weightsSource(place, config, { weightFiles, head }),
    maxLength: Number(options['max-length']),
  };
  const engine = await Engine.load(source, { ...SCHEDULING, dtype });
  try {
    return (await Promise.all(texts.map((text) => engine.infer(text)))).map(({ values }) => values);
  } finally {
    await engine.close();
  }
}

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

/** For each query the cosines of all documents. */
function scores(vectors) {
  const documents = vectors.slice(QUERIES, QUERIES + DOCUMENTS);
  return vectors.slice(0, QUERIES).map((query) => documents.map((one) => dot(query, one)));
}

function compare(dtype, vectors, reference) {
  const cosines = vectors.map((vector, i) => dot(vector, reference[i]));
  return {
    DTYPE: dtype,
    'mean cosine': mean(cosines).toFixed(6),
    'worst cosine': Math.min(...cosines).toFixed(6),
    ...compareRanks(scores(vectors), scores(reference)),
  };
}

const reference = await embed('float32');
console.log(`${machineType(describeMachine())}; ${texts.length} texts`);
const rows = [];
for (const dtype of options.formats.split(',')) {
  rows.push(compare(dtype, dtype === 'float32' ? reference : await embed(dtype), reference));
}
console.table(rows);
