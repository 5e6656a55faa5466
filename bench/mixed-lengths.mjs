/**
 * Whether texts of very different lengths cost in one batch what they cost among texts of their own
 * length: all at once in any order, against each length by itself, in turn within each round.
 *
 *   node bench/mixed-lengths.mjs [--model models/sentiment] [--lengths 8,16,32,64,128,256,500] [--texts 16]
 *     [--rounds 7] [--format float32]
 *
 * Needs a built service (npm run build). In processor time of the process, so that what else happens on
 * the machine counts little.
 */
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { makeTexts, wordsOf } from './bodies.mjs';
import { describeMachine, machineType } from './machine.mjs';
import { median } from './report.mjs';

const { TextClassifier } = createRequire(import.meta.url)('../dist/index.js');

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'models/sentiment' },
    lengths: { type: 'string', default: '8,16,32,64,128,256,500' },
    texts: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '7' },
    format: { type: 'string', default: 'float32' },
  },
});

const classifier = await TextClassifier.load({
  modelDirectory: options.model,
  dtype: options.format,
});
/** Texts of each length. */
const groups = options.lengths.split(',').map((length) => {
  const words = Math.max(1, wordsOf(Number(length)));
  return makeTexts(Array(Number(options.texts)).fill(words)).map((body) => JSON.parse(body).text);
});
/** One of each length, and again: no two neighbours are alike. */
const mixed = groups[0].flatMap((_, i) => groups.map((group) => group[i]));

async function cost(run) {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const apart = async () => {
  for (const group of groups) await classifier.classifyBatch(group);
};
const together = () => classifier.classifyBatch(mixed);
await apart();
await together();
const rounds = [];
for (let round = 0; round < Number(options.rounds); round += 1) {
  rounds.push({ apart: await cost(apart), together: await cost(together) });
}
await classifier.close();
const ratio = median(rounds.map((each) => each.together / each.apart));
const ms = (side) => median(rounds.map((each) => each[side])).toFixed(0);
console.log(
  `${machineType(describeMachine())}; ${mixed.length} texts of ${options.lengths} tokens`,
);
console.log(`apart ${ms('apart')} ms, mixed ${ms('together')} ms of processor time`);
console.log(`a mixed batch costs ${ratio.toFixed(3)} of what its texts cost among their own`);
