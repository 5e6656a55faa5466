/**
 * What the text of vectors costs beside their inference: processor time of this process for a list of texts, for the
 * numbers of their vectors as JSON, and for base64. In one process, with the functions that the routes call.
 *
 *   node bench/vectors.mjs MODEL_DIR [--texts 1024] [--rounds 5] [--formats float32,int8]
 *
 * The texts are those of bodies.mjs, of 20 words in the median. Needs a built service (npm run build).
 */
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { describeMachine, machineType } from './machine.mjs';
import { median } from './report.mjs';

const require = createRequire(import.meta.url);
const { Embedder } = require('../dist/index.js');
const { toBase64, writeVectors } = require('../dist/protocols/vectors.js');

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    texts: { type: 'string', default: '1024' },
    rounds: { type: 'string', default: '5' },
    formats: { type: 'string', default: 'float32,int8' },
  },
});
const [modelDirectory] = positionals;
if (modelDirectory === undefined) {
  console.error('usage: node bench/vectors.mjs MODEL_DIR [--texts 1024] [--rounds 5]');
  process.exit(2);
}
const texts = makeBodies('sentiment', Number(options.texts)).map((body) => JSON.parse(body).text);

/** Processor time of all threads, in ms, and what came of it. */
async function timed(work) {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return [(user + system) / 1000, result];
}

const columns = { inference: [], JSON: [], base64: [] };
console.log(`${machineType(describeMachine())}; ${texts.length} texts`);
const table = [];
for (const dtype of options.formats.split(',')) {
  const embedder = await Embedder.load({ modelDirectory, dtype, maxQueueWaitMs: 600_000 });
  const times = structuredClone(columns);
  for (let round = 0; round <= Number(options.rounds); round += 1) {
    const [inference, vectors] = await timed(() => embedder.embedBatch(texts));
    const [json] = await timed(() => writeVectors(vectors));
    const [base64] = await timed(() => vectors.map(toBase64));
    if (round === 0) continue; // the first warms up
    times.inference.push(inference);
    times.JSON.push(json);
    times.base64.push(base64);
  }
  await embedder.close();
  const [inference, json, base64] = Object.values(times).map(median);
  table.push({
    DTYPE: dtype,
    'inference, CPU ms': inference.toFixed(0),
    'JSON, CPU ms': json.toFixed(1),
    'base64, CPU ms': base64.toFixed(2),
    'JSON / inference': `${((100 * json) / inference).toFixed(2)} %`,
    'base64 / JSON': (base64 / json).toFixed(3),
    'base64 / inference': `${((100 * base64) / inference).toFixed(3)} %`,
  });
}
console.table(table);
