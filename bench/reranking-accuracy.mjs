/**
 * What the number formats cost the order of documents by a model's own scores, for each DTYPE: how many of the ranks
 * of 100 documents stay.
 *
 *   node bench/reranking-accuracy.mjs texts.tsv [more.tsv …] [--model models/sentiment] [--formats float32,bfloat16,int8]
 *
 * A text is what stands before the first tab of a line; a line "sentence" is a heading. A classifier of two labels
 * ranks each 100 texts by the difference of its outputs. A reranker takes the first 10 texts as queries, and ranks
 * the next 100 for each. Needs a built service (npm run build). A format is measured whether or not it is faster than
 * float32 here.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { describeMachine, machineType } from './machine.mjs';
import { compareRanks } from './ranks.mjs';
import { textsOf } from './texts.mjs';

const require = createRequire(import.meta.url);
const { Reranker, SentimentEngine } = require('../dist/index.js');

const QUERIES = 10;
const DOCUMENTS = 100;

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: 'string', default: 'models/sentiment' },
    formats: { type: 'string', default: 'float32,bfloat16,int8' },
  },
});
if (files.length === 0) {
  console.error('usage: node bench/reranking-accuracy.mjs texts.tsv [more.tsv …] [--model …]');
  process.exit(2);
}

const texts = textsOf(files);

/** One row of scores for each query, or for each 100 texts. */
async function scores(dtype) {
  const settings = { modelDirectory: options.model, dtype, maxQueueWaitMs: 600_000 };
  const { num_labels, id2label } = JSON.parse(readFileSync(`${options.model}/config.json`, 'utf8'));
  const labels = num_labels ?? Object.keys(id2label ?? {}).length;
  const ranks = labels === 1 ? rankPairs : rankTexts;
  return ranks(settings);
}

async function rankTexts(settings) {
  const engine = await SentimentEngine.load(settings);
  const rows = [];
  for (let begin = 0; begin + DOCUMENTS <= texts.length; begin += DOCUMENTS) {
    const answers = await engine.classifyBatch(texts.slice(begin, begin + DOCUMENTS));
    rows.push(
      answers.map(({ probabilities }) => {
        const [first, second] = Object.values(probabilities);
        return Math.log(second) - Math.log(first);
      }),
    );
  }
  await engine.close();
  return rows;
}

async function rankPairs(settings) {
  const reranker = await Reranker.load(settings);
  const documents = texts.slice(QUERIES, QUERIES + DOCUMENTS);
  const rows = [];
  for (const query of texts.slice(0, QUERIES)) {
    const row = [];
    for (const { index, score } of await reranker.rank(query, documents)) row[index] = score;
    rows.push(row);
  }
  await reranker.close();
  return rows;
}

const reference = await scores('float32');
console.log(`${machineType(describeMachine())}; ${reference.length} times ${DOCUMENTS} texts`);
const rows = [];
for (const dtype of options.formats.split(',')) {
  const own = dtype === 'float32' ? reference : await scores(dtype);
  const away = own.flatMap((row, i) => row.map((score, k) => Math.abs(score - reference[i][k])));
  rows.push({
    DTYPE: dtype,
    'score off by, mean': (away.reduce((sum, each) => sum + each, 0) / away.length).toFixed(5),
    most: Math.max(...away).toFixed(5),
    ...compareRanks(own, reference),
  });
}
console.table(rows);
