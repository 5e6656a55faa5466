// Loads a model in a number format and classifies texts with it, in a process of its own: an
// instruction that the processor lacks would end the test's. Arguments: the format, a model directory.
// Standard input: a JSON array of texts. Standard output: what came of it, as JSON.
const path = require('node:path');
const { text } = require('node:stream/consumers');

const ROOT = path.resolve(__dirname, '..', '..', '..');
const { addon } = require(path.join(ROOT, 'dist', 'native', 'addon.js'));
const { TaskModel } = require(path.join(ROOT, 'dist', 'tasks', 'task-model.js'));
const { textClassification } = require(
  path.join(ROOT, 'dist', 'tasks', 'text-classification', 'text-classification-task.js'),
);

const SCHEDULING = {
  ...require('../../helpers/scheduling.json'),
  inferenceTimeoutMs: 600_000,
};

async function main() {
  const [dtype, directory] = process.argv.slice(2);
  const texts = JSON.parse(await text(process.stdin));
  const problem = addon().dtypeProblem(dtype);
  try {
    const classifier = await TaskModel.load(textClassification, directory, {
      ...SCHEDULING,
      dtype,
    });
    const all = await Promise.all(texts.map((one) => classifier.run(one, {})));
    const answers = all.map(({ label, score }) => ({ label, score }));
    console.log(JSON.stringify({ problem, warnings: classifier.warnings, answers }));
    await classifier.close();
  } catch ({ message }) {
    console.log(JSON.stringify({ problem, error: message }));
  }
}

main();
