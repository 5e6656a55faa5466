// Loads a model again and again and closes none: how many are still mapped after each, in a line of JSON.
// node unclosed.cjs FOLDER TIMES
const { readFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..', '..', '..');
const { Engine } = require(path.join(ROOT, 'dist', 'native', 'engine.js'));
const { textClassification } = require(
  path.join(ROOT, 'dist', 'tasks', 'text-classification', 'text-classification-task.js'),
);
const SCHEDULING = require(path.join(ROOT, 'test', 'helpers', 'scheduling.json'));

const [folder, times] = process.argv.slice(2);

const maps = () =>
  readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .filter((line) => line.includes(folder)).length;

async function main() {
  const mapped = [];
  for (let turn = 0; turn < Number(times); turn++) {
    const engine = await Engine.load(textClassification.read(folder).source, SCHEDULING);
    await engine.infer('a film');
    mapped.push(maps());
  }
  console.log(JSON.stringify(mapped));
}

main();
