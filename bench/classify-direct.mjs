/**
 * The engine alone: node bench/classify-direct.mjs file|ascending|descending FILE.jsonl COMMAND ARGUMENT...
 *
 * COMMAND and its arguments are those of a command over files; of them only the model and the columns count.
 * All inputs are in memory before the clock starts; as many as a command over files has wait at a time, and
 * chunks of 1,024 are sorted as it sorts them. What a task makes of the engine's answers for files (spans,
 * shorter vectors) is left out. Prints rows a second.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(path.join(ROOT, 'dist', 'main.js'));
const { readEnvironment } = require('./settings/environment');
const { readConfig } = require('./settings/config');
const { BATCH_COMMANDS } = require('./commands/batch/commands');

const MOST_INPUTS = 1024;
const ROWS_OF_CHUNK = 1024;
const SIGNS = { file: 0, ascending: 1, descending: -1 };

const [order, file, command, ...args] = process.argv.slice(2);
const { settings, toJob } = BATCH_COMMANDS[command].read([...args, file, '-o', 'none.jsonl']);
const task = await toJob(readConfig(settings, readEnvironment(ROOT))).load();
const rows = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => task.take({ fields: JSON.parse(line), signal: null }).input);
const inputs = [];
for (let at = 0; at < rows.length; at += ROWS_OF_CHUNK) {
  const chunk = rows.slice(at, at + ROWS_OF_CHUNK);
  inputs.push(...chunk.sort((a, b) => SIGNS[order] * (task.lengthOf(a) - task.lengthOf(b))));
}

const start = performance.now();
await new Promise((resolve, reject) => {
  let next = 0;
  let running = 0;
  const fill = () => {
    while (running < MOST_INPUTS && next < inputs.length) {
      running++;
      task.model.run(inputs[next++], {}).then(() => {
        running--;
        if (next < inputs.length) fill();
        else if (running === 0) resolve();
      }, reject);
    }
  };
  fill();
});
const seconds = (performance.now() - start) / 1000;
await task.model.close();
process.stdout.write(String(inputs.length / seconds));
