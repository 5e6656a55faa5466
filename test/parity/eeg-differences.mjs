// The largest difference to torch of a probability, for each EEG fixture, of the built service's own
// classifier: every golden window alone, then all of them twice at once. TorchScript first, then
// torch.export, then the versions of torch.export.
//   npm run build && node test/parity/eeg-differences.mjs
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const {
  signalClassification,
} = require('../../dist/tasks/signal-classification/signal-classification-task.js');
const { TaskModel } = require('../../dist/tasks/task-model.js');
const { softmax } = require('../../dist/lib/numbers.js');

const fixture = (name) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const readJson = (name) => JSON.parse(readFileSync(fixture(name), 'utf8'));
const { windows } = readJson('eeg/windows.json');
const models = ['eeg', 'exported/signals'].flatMap((folder) =>
  readJson(`${folder}/golden.json`).models.map((model) => ({
    ...model,
    file: `${folder}/${model.file}`,
  })),
);
for (const name of readdirSync(fixture('exported/versions'))) {
  if (!name.endsWith('.pt2')) continue;
  const { answers } = readJson(`exported/versions/${name.slice(0, name.indexOf('-'))}.json`);
  models.push({ file: `exported/versions/${name}`, answers });
}

const SCHEDULING = require('../helpers/scheduling.json');

for (const { file, answers } of models) {
  const classifier = await TaskModel.load(signalClassification, fixture(file), SCHEDULING);
  let largest = 0;
  let largestBatch = 0;
  const check = async (index) => {
    const { inference } = await classifier.run(windows[index].signal, {});
    largestBatch = Math.max(largestBatch, inference.batchSize);
    for (const [i, probability] of softmax(inference.values).entries()) {
      largest = Math.max(largest, Math.abs(probability - answers[index].probabilities[i]));
    }
  };
  for (const index of answers.keys()) await check(index);
  await Promise.all([...answers.keys(), ...answers.keys()].map(check));
  await classifier.close();
  console.log(`${file}: ${largest.toExponential(1)}, batches of up to ${largestBatch}`);
}
