/**
 * What tokenizing a query once for all its documents could save at most: all tokenization of a list, in its processor
 * time. A query of 300 words, with 500 documents of 5 words and with 100 of 40. Tokenization is told in time that
 * passes, to which other work on the machine only adds: of four lists that with the least of it.
 *
 *   node bench/query-tokens.mjs [--model models/sentiment] [--formats float32,int8]
 *
 * Needs a built service (npm run build).
 */
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { describeMachine, machineType } from './machine.mjs';
import { SCHEDULING } from './texts.mjs';

const require = createRequire(import.meta.url);
const { TaskModel } = require('../dist/tasks/task-model.js');
const {
  textClassification,
} = require('../dist/tasks/text-classification/text-classification-task.js');

const LISTS = 4;
const QUERY = 300;
/** Documents, and words of each. */
const CASES = [
  [500, 5],
  [100, 40],
];
const WORDS =
  'the film is a quiet and funny story about people who wait for rain in a small town'.split(' ');

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'models/sentiment' },
    formats: { type: 'string', default: 'float32,int8' },
  },
});

/** Another one for each number. */
function text(length, number) {
  const word = (_, i) => WORDS[(i * 7 + number * 13 + i * i) % WORDS.length];
  return Array.from({ length }, word).join(' ');
}

/** Milliseconds of tokenization and of the processor, of one list. */
async function run(model, [documents, length], number) {
  const query = text(QUERY, number);
  const pairs = Array.from({ length: documents }, (_, i) => ({
    ...{ text: query, pair: text(length, i), isPair: true },
  }));
  const before = process.cpuUsage();
  const answers = await model.runAll(pairs, {});
  const { user, system } = process.cpuUsage(before);
  const tokenization = answers.reduce((sum, { inference }) => sum + inference.tokenizationMs, 0);
  return { tokenization, processor: (user + system) / 1000 };
}

console.log(machineType(describeMachine()));
const rows = [];
for (const dtype of options.formats.split(',')) {
  const scheduling = { ...SCHEDULING, dtype, workers: 1 };
  const model = await TaskModel.load(textClassification, options.model, scheduling);
  for (const list of CASES) {
    const lists = [];
    for (let number = 0; number < LISTS; number++) lists.push(await run(model, list, number));
    const [least] = lists.sort((a, b) => a.tokenization - b.tokenization);
    rows.push({
      DTYPE: dtype,
      documents: list.join(' of '),
      'tokenization ms': Math.round(least.tokenization),
      'processor ms': Math.round(least.processor),
      share: `${((100 * least.tokenization) / least.processor).toFixed(2)} %`,
    });
  }
  await model.close();
}
console.table(rows);
