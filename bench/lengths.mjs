/**
 * What one text costs by its length, from 8 to 8,192 tokens: time and memory, beside PyTorch, OpenVINO and onnxruntime,
 * all in process and with tokenization, in one run.
 *
 *   node bench/lengths.mjs [--model modernbert-base] [--lengths 8,32,128,512,2048,8192] [--sides …] [--seconds 1]
 *     [--python …] [--store]
 *
 * Needs a built service (npm run build). The model: of families.mjs. Each length is asked for once before it is measured.
 * Memory is the most that the process had until then, so lengths ascend. --store writes bench/results/lengths.json, for
 * this type of machine; sides and lengths that were not measured this time stay as they are.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeTexts, wordsOf } from './bodies.mjs';
import { ask, makeModel } from './families/sides.mjs';
import { describeMachine, machineType } from './machine.mjs';
import { BENCH } from './paths.mjs';
import { storeModels } from './report.mjs';
import { setUp } from './setup.mjs';

const RESULTS = path.join(BENCH, 'results/lengths.json');
const SIDES = 'float32,int8,openvino-float32,openvino-int8,onnxruntime-float32,pytorch';

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'modernbert-base' },
    lengths: { type: 'string', default: '8,32,128,512,2048,8192' },
    sides: { type: 'string', default: SIDES },
    seconds: { type: 'string', default: '1' },
    python: { type: 'string' },
    store: { type: 'boolean', default: false },
  },
});

const textsOf = (tokens) =>
  makeTexts(Array(4).fill(wordsOf(tokens))).map((body) => JSON.parse(body).text);
const lengths = options.lengths.split(',').map(Number);
const texts = Object.fromEntries(lengths.map((length) => [length, textsOf(length)]));
const task = { texts, samples: texts[lengths[0]], seconds: Number(options.seconds) };
const name = options.model;
const python = setUp({ python: options.python, encoders: true });
const folder = makeModel(name, python);
const shortened = (_, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value);

const figures = {};
for (const side of options.sides.split(',')) {
  const answer = ask(side, {
    name,
    folder,
    python,
    task: { ...task, alone: true, least_times: 1 },
  });
  if (answer) figures[side] = JSON.parse(JSON.stringify(answer.figures, shortened));
}

const type = machineType(describeMachine());
console.log(`${type}\n${name}: ms of one text (p50), MB at most until then`);
console.table(
  Object.fromEntries(
    Object.entries(figures).map(([side, byLength]) => [
      side,
      Object.fromEntries(
        lengths.map((each) => [each, `${byLength[each].p50_ms}, ${byLength[each].peak_mb}`]),
      ),
    ]),
  ),
);

if (options.store) storeModels(RESULTS, type, { [name]: figures });
