/**
 * What the number formats cost the spans of a tagger: how many of float32's are found with the same label and the
 * same place, how many others there are, and how far scores are off, for each DTYPE.
 *
 *   node bench/spans/spans.mjs MODEL_DIR texts.tsv [more.tsv …] [--formats float32,bfloat16,int8]
 *
 * A text is what stands before the first tab of a line; a line "sentence" is a heading. Spans are those of
 * aggregation "simple". Needs a built service (npm run build). bench/spans/train.py makes a model and its texts. A
 * format is measured whether or not it is faster than float32 here.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine, machineType } from '../machine.mjs';
import { SCHEDULING, textsOf } from '../texts.mjs';

const require = createRequire(import.meta.url);
const { TaskModel } = require('../../dist/tasks/task-model.js');
const {
  tokenClassification,
} = require('../../dist/tasks/token-classification/token-classification-task.js');
const { spansOf } = require('../../dist/tasks/token-classification/spans.js');

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { formats: { type: 'string', default: 'float32,bfloat16,int8' } },
});
const [directory, ...files] = positionals;
if (files.length === 0) {
  console.error('usage: node bench/spans/spans.mjs MODEL_DIR texts.tsv [more.tsv …] [--formats …]');
  process.exit(2);
}
const texts = textsOf(files);

/** Scores of all spans, by text, place and label; and which label each token has. */
async function tag(dtype) {
  const scheduling = { ...SCHEDULING, dtype };
  const model = await TaskModel.load(tokenClassification, path.resolve(directory), scheduling);
  try {
    const answers = await model.runAll(
      texts.map((text) => ({ text })),
      {},
    );
    const spans = new Map();
    const labels = [];
    for (const [index, answer] of answers.entries()) {
      for (const { label, start, end, score } of await spansOf(answer, model, {
        strategy: 'simple',
      })) {
        spans.set(`${index} ${start} ${end} ${label}`, score);
      }
      for (const { label } of await spansOf(answer, model, { strategy: 'none', ignoreLabels: [] }))
        labels.push(label);
    }
    return { spans, labels };
  } finally {
    await model.close();
  }
}

function compare(dtype, found, reference) {
  const kept = [...reference.spans].filter(([span]) => found.spans.has(span));
  const off = kept.map(([span, score]) => Math.abs(found.spans.get(span) - score));
  const same = found.labels.filter((label, index) => label === reference.labels[index]).length;
  const share = (count, all) => `${count} of ${all} (${((100 * count) / all).toFixed(2)} %)`;
  return {
    DTYPE: dtype,
    'spans kept': share(kept.length, reference.spans.size),
    'others found': found.spans.size - kept.length,
    'labels of tokens kept': share(same, reference.labels.length),
    'furthest score': off.reduce((most, one) => Math.max(most, one), 0).toExponential(1),
  };
}

const reference = await tag('float32');
console.log(`${machineType(describeMachine())}; ${texts.length} texts`);
const rows = [];
for (const dtype of options.formats.split(',')) {
  rows.push(compare(dtype, dtype === 'float32' ? reference : await tag(dtype), reference));
}
console.table(rows);
