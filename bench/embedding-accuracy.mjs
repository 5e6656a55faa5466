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
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine, machineType } from './machine.mjs';

const require = createRequire(import.meta.url);
const { Engine } = require('../dist/native/engine.js');
const HUGGING_FACE = '../dist/models/hugging-face';
const { modelConfig, readDirectory, weightsSource } = require(`${HUGGING_FACE}/directory.js`);
const { findModel } = require(`${HUGGING_FACE}/weight-files.js`);

const QUERIES = 50;
const DOCUMENTS = 100;
const TOP = 10;

/** All texts wait at once. */
const SCHEDULING = {
  ...require('../test/helpers/scheduling.json'),
  maxQueueRequests: 100_000,
  maxQueueWaitMs: 3_600_000,
};

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

const texts = files
  .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
  .map((line) => line.split('\t')[0].trim())
  .filter((text) => text !== '' && text !== 'sentence')
  .slice(0, Number(options.texts));

/** The vector of each text, of length 1. */
async function embed(dtype) {
  const place = path.resolve(directory);
  const { config } = readDirectory(place, modelConfig);
  const { weightFiles } = findModel(place);
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
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** For each query the cosines of all documents. */
function scores(vectors) {
  const documents = vectors.slice(QUERIES, QUERIES + DOCUMENTS);
  return vectors.slice(0, QUERIES).map((query) => documents.map((one) => dot(query, one)));
}

/** Kendall's tau-b of two lists of scores. */
function tau(a, b) {
  let agreed = 0;
  let ties = [0, 0];
  const pairs = (a.length * (a.length - 1)) / 2;
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j < i; j++) {
      const [one, other] = [Math.sign(a[i] - a[j]), Math.sign(b[i] - b[j])];
      agreed += one * other;
      ties = [ties[0] + (one === 0), ties[1] + (other === 0)];
    }
  }
  return agreed / Math.sqrt((pairs - ties[0]) * (pairs - ties[1]));
}

/** The documents with the highest scores. */
function top(row) {
  return new Set([...row.keys()].sort((i, j) => row[j] - row[i]).slice(0, TOP));
}

function compare(dtype, vectors, reference) {
  const cosines = vectors.map((vector, i) => dot(vector, reference[i]));
  const [own, others] = [scores(vectors), scores(reference)];
  const kept = own.map((row, i) => {
    const expected = top(others[i]);
    return [...top(row)].filter((document) => expected.has(document)).length / TOP;
  });
  const first = own.filter(
    (row, i) => row.indexOf(Math.max(...row)) === others[i].indexOf(Math.max(...others[i])),
  ).length;
  return {
    DTYPE: dtype,
    'mean cosine': mean(cosines).toFixed(6),
    'worst cosine': Math.min(...cosines).toFixed(6),
    "Kendall's tau": mean(own.map((row, i) => tau(row, others[i]))).toFixed(4),
    'top 10 kept': `${(100 * mean(kept)).toFixed(1)} %`,
    'same first': `${first} of ${own.length}`,
  };
}

const reference = await embed('float32');
console.log(`${machineType(describeMachine())}; ${texts.length} texts`);
const rows = [];
for (const dtype of options.formats.split(',')) {
  rows.push(compare(dtype, dtype === 'float32' ? reference : await embed(dtype), reference));
}
console.table(rows);
