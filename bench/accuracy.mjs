/**
 * What the number formats cost in accuracy: answers right, the label that float32 gives, and how far its
 * probability is off, for each DTYPE, of labelled texts.
 *
 *   node bench/accuracy.mjs dev.tsv [more.tsv …] [--model models/sentiment] [--formats float32,bfloat16,int8]
 *       [--join 1]
 *
 * Each file: a text, a tab and the index of its label on a line, as in the TSV files of GLUE; a first
 * line without an index is a heading. Needs a built service (npm run build). A format is measured
 * whether or not it is faster than float32 here. "int8+bfloat16" is DTYPE=int8 with ATTENTION_DTYPE=bfloat16.
 * --join N makes long texts: N texts of the same label are joined into one.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { describeMachine, machineType } from './machine.mjs';
import { SCHEDULING } from './texts.mjs';

const require = createRequire(import.meta.url);
const { TaskModel } = require('../dist/tasks/task-model.js');
const {
  textClassification,
} = require('../dist/tasks/text-classification/text-classification-task.js');

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: 'string', default: 'models/sentiment' },
    formats: { type: 'string', default: 'float32,bfloat16,int8' },
    join: { type: 'string', default: '1' },
  },
});
if (files.length === 0) {
  console.error('usage: node bench/accuracy.mjs dev.tsv [more.tsv …] [--model …] [--formats …]');
  process.exit(2);
}

const sentences = files.flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([text, label]) => text && /^\d+$/.test(label ?? ''))
    .map(([text, label]) => ({ text: text.trim(), label: Number(label) })),
);

function joined(count) {
  const labels = [...new Set(sentences.map(({ label }) => label))];
  return labels.flatMap((label) => {
    const texts = sentences.filter((each) => each.label === label).map(({ text }) => text);
    return Array.from({ length: Math.floor(texts.length / count) }, (_, i) => ({
      text: texts.slice(i * count, (i + 1) * count).join(' '),
      label,
    }));
  });
}
const examples = joined(Number(options.join));

/** Of each example. */
async function classify(format) {
  const [dtype, attentionDtype = 'auto'] = format.split('+');
  const classifier = await TaskModel.load(textClassification, options.model, {
    ...SCHEDULING,
    dtype,
    attentionDtype,
  });
  try {
    const texts = examples.map(({ text }) => text);
    const answers = await classifier.runAll(texts, {});
    return answers.map(({ label, scores }) => ({
      label: classifier.metadata.labels.indexOf(label),
      scores,
    }));
  } finally {
    await classifier.close();
  }
}

function compare(format, answers, reference) {
  const share = (count) => `${count} (${((100 * count) / examples.length).toFixed(2)} %)`;
  const right = answers.filter(({ label }, i) => label === examples[i].label).length;
  const same = answers.filter(({ label }, i) => label === reference[i].label).length;
  const differences = answers.flatMap(({ scores }, i) =>
    [...scores].map((score, j) => Math.abs(score - reference[i].scores[j])),
  );
  return {
    format,
    right: share(right),
    'label of float32': share(same),
    'furthest score': differences.reduce((most, one) => Math.max(most, one), 0).toExponential(1),
  };
}

const reference = await classify('float32');
console.log(`${machineType(describeMachine())}; ${examples.length} texts`);
const rows = [];
for (const format of options.formats.split(',')) {
  rows.push(compare(format, format === 'float32' ? reference : await classify(format), reference));
}
console.table(rows);
