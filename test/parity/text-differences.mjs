// The largest difference to transformers of a logit, for each model type of test/fixtures/models,
// relative to the largest logit of that model's answers; each golden text alone, then all at once.
//   npm run build && node test/parity/text-differences.mjs
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const { Engine } = require('../../dist/native/engine.js');
const { readModelDirectory } = require('../../dist/tasks/text-classification/model-directory.js');

const fixture = (name) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const readJson = (name) => JSON.parse(readFileSync(fixture(name), 'utf8'));
const { texts } = readJson('texts.json');

const SCHEDULING = require('../helpers/scheduling.json');

const worst = new Map();
for (const name of readdirSync(fixture('models'))) {
  const { answers } = readJson(`models/${name}/golden.json`);
  const { source } = readModelDirectory(fixture(`models/${name}`));
  const engine = await Engine.load(source, SCHEDULING);
  const largest = Math.max(...answers.flatMap(({ logits }) => logits.map(Math.abs)));
  let difference = 0;
  const check = async (text, row) => {
    const { values } = await engine.infer(text);
    for (const [i, logit] of answers[row].logits.entries()) {
      difference = Math.max(difference, Math.abs(values[i] - logit) / largest);
    }
  };
  for (const [row, text] of texts.entries()) await check(text, row);
  await Promise.all(texts.map(check));
  await engine.close();
  const program = name.startsWith('exported-') ? `torch.export, ${name.slice(9)}` : 'TorchScript';
  const type = source.type === 'text-encoder' ? source.modelType : program;
  worst.set(type, Math.max(worst.get(type) ?? 0, difference));
  console.log(`${name}: ${difference.toExponential(1)}`);
}
console.table(
  Object.fromEntries([...worst].map(([type, value]) => [type, value.toExponential(1)])),
);
