/**
 * The engine alone: node bench/classify-direct.mjs SERVICE FILE.jsonl file|ascending|descending
 *
 * All inputs are in memory before the clock starts; as many as `classify` has wait at a time, and
 * chunks of 1,024 are sorted as it sorts them. Prints rows a second.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(path.join(ROOT, 'dist', 'main.js'));
const { readEnvironment } = require('./settings/environment');
const { readConfig } = require('./settings/config');
const { PRESETS } = require('./commands/presets');
const { TaskModel } = require('./tasks/task-model');

const MOST_INPUTS = 1024;
const ROWS_OF_CHUNK = 1024;

const [service, file, order] = process.argv.slice(2);
const config = readConfig([service], readEnvironment(ROOT));
const scheduling = { ...config.scheduling, maxQueueRequests: 2 ** 20, maxQueueWaitMs: 2 ** 31 - 1 };
const { task, placeOf } = PRESETS[service];
const model = await TaskModel.load(task, placeOf(config), scheduling);
const rows = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
const inputs = [];
for (let at = 0; at < rows.length; at += ROWS_OF_CHUNK) {
  const chunk = rows.slice(at, at + ROWS_OF_CHUNK).map(({ text, signal }) => text ?? signal);
  const sign = order === 'ascending' ? 1 : order === 'descending' ? -1 : 0;
  if (service === 'sentiment') chunk.sort((a, b) => sign * (a.length - b.length));
  inputs.push(...chunk);
}

const start = performance.now();
await new Promise((resolve, reject) => {
  let next = 0;
  let running = 0;
  const fill = () => {
    while (running < MOST_INPUTS && next < inputs.length) {
      running++;
      model.run(inputs[next++], {}).then(() => {
        running--;
        if (next < inputs.length) fill();
        else if (running === 0) resolve();
      }, reject);
    }
  };
  fill();
});
const seconds = (performance.now() - start) / 1000;
await model.close();
process.stdout.write(String(inputs.length / seconds));
