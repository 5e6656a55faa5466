/**
 * Backends of sentence-transformers beside this server's embedder, as the speed-up chart of its documentation: texts
 * per second of a list, in process and with tokenization, relative to PyTorch in float32.
 *
 *   node bench/backends.mjs [--models minilm,bert-base] [--sides float32,…,torch-float32,…] [--seconds 4] [--rounds 3]
 *
 * Needs a built service (npm run build). `minilm` is all-MiniLM-L6-v2; `bert-base` has random weights. Sides take
 * turns; a figure is the median of the rounds, and a ratio the median of the ratios of a round.
 */
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { askProcess } from './families/sides.mjs';
import { calibration, longTexts, sentences } from './field/loads.mjs';
import { modelOf } from './field/services.mjs';
import { setUpField } from './field/setup.mjs';
import { describeMachine, machineType } from './machine.mjs';
import { BENCH, BUILD, PEERS } from './paths.mjs';
import { median } from './report.mjs';
import { makePython, once, run, setUp } from './setup.mjs';

const FOLDER = path.join(BENCH, 'backends');
const OURS = ['float32', 'bfloat16', 'int8'];
const PEER_SIDES = [
  ...['torch-float32', 'torch-bfloat16', 'onnx-float32', 'onnx-int8'],
  ...['openvino-float32', 'openvino-bfloat16', 'openvino-int8'],
];
const REFERENCE = 'torch-float32';
/** Maximum difference of an element of a float32 embedding. */
const TOLERANCE = 1e-4;

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: 'minilm,bert-base' },
    sides: { type: 'string', default: [...OURS, ...PEER_SIDES].join(',') },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
  },
});

function folderOf(name, python) {
  if (name === 'minilm') return modelOf('embedding');
  const folder = path.join(BUILD, 'backends/models', name);
  const script = path.join(FOLDER, 'random_model.py');
  once(folder, [script], `random weights of ${name}`, () =>
    run(python, [script, modelOf('embedding'), folder]),
  );
  return folder;
}

/** Rates and first embeddings of a side. */
function ask(side, { name, folder, python, task }) {
  const work = path.join(BUILD, 'backends', name);
  const command = OURS.includes(side)
    ? [process.execPath, path.join(FOLDER, 'ours.mjs'), side, folder]
    : [python, path.join(FOLDER, 'peer.py'), side, folder, work];
  const { answer, problem } = askProcess(command, task);
  if (problem !== null) throw new Error(`${name}, ${side}: ${problem}`);
  return answer;
}

/** Throws if the float32 embeddings of two sides differ. */
function requireEqual(side, { vectors }, reference) {
  const flat = (of) => Object.values(of).flat(2);
  const others = flat(reference.vectors);
  const worst = Math.max(...flat(vectors).map((value, i) => Math.abs(value - others[i])));
  if (!(worst <= TOLERANCE)) throw new Error(`${side}: embeddings differ by ${worst}`);
}

function measure(name, context) {
  const sides = options.sides.split(',');
  const rounds = Array.from({ length: Number(options.rounds) }, () =>
    Object.fromEntries(sides.map((side) => [side, ask(side, { name, ...context })])),
  );
  for (const side of sides.filter((each) => each.endsWith('float32'))) {
    requireEqual(side, rounds[0][side], rounds[0][REFERENCE]);
  }
  const kinds = Object.keys(context.task.texts);
  const row = (side) =>
    kinds.flatMap((kind) => {
      const rates = rounds.map((round) => round[side].rates[kind]);
      const ratios = rounds.map((round) => round[side].rates[kind] / round[REFERENCE].rates[kind]);
      return [
        [`${kind}, texts/s`, Number(median(rates).toPrecision(4))],
        [`${kind}, ratio`, Number(median(ratios).toFixed(2))],
      ];
    });
  console.log(`\n${name}`);
  console.table(Object.fromEntries(sides.map((side) => [side, Object.fromEntries(row(side))])));
}

const textsOf = (bodies) => bodies.map((body) => JSON.parse(body).inputs);
const python = makePython('sentence-transformers', [
  path.join(PEERS, 'sentence-transformers/requirements.txt'),
]);
setUpField({ services: ['embedding'], peers: [], python: setUp({ encoders: true }) });
const task = {
  texts: { sentences: textsOf(sentences(512)), '250 tokens': textsOf(longTexts(96, 250)) },
  calibration: calibration('embedding'),
  seconds: Number(options.seconds),
};
console.log(machineType(describeMachine()));
for (const name of options.models.split(',')) {
  fs.mkdirSync(path.join(BUILD, 'backends', name), { recursive: true });
  measure(name, { folder: folderOf(name, python), python, task });
}
