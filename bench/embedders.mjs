/**
 * An embedder of the shape of Qwen3-Embedding-0.6B beside sentence-transformers and llama.cpp, all in process and with
 * tokenization, in one run: p50 of one text, and texts a second of many.
 *
 *   node bench/embedders.mjs [--lengths 23,103,474] [--texts 16] [--seconds 2] [--rounds 3] [--sides …] [--python …]
 *
 * Needs a built service (npm run build), and a C++ compiler and CMake for llama-cpp-python. Weights are random
 * (embedders/random_embedder.py). Sides take turns in each round; figures and ratios are medians of the rounds. Vectors of
 * float32 must agree with those of sentence-transformers, and all vectors must point in the same direction.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeBodies, makeTexts, wordsOf } from './bodies.mjs';
import { describeMachine, machineType } from './machine.mjs';
import { BENCH, BUILD, ROOT } from './paths.mjs';
import { median } from './report.mjs';
import { installPackages, once, run, setUp } from './setup.mjs';

const FOLDER = path.join(BENCH, 'embedders');
const OURS = ['float32', 'bfloat16', 'int8', 'int8+bfloat16'];
/** What each of ours is compared with. */
const RIVALS = {
  float32: ['sentence-transformers-float32'],
  bfloat16: ['sentence-transformers-bfloat16', 'llama-bf16'],
  int8: ['llama-q8_0'],
  'int8+bfloat16': ['llama-q8_0'],
};
const PEERS = [...new Set(Object.values(RIVALS).flat())];
/** Furthest that a number of sentence-transformers in float32 may be from ours, and the least cosine of all sides. */
const TOLERANCE = 1e-5;
const LEAST_COSINE = 0.97;

const { values: options } = parseArgs({
  options: {
    lengths: { type: 'string', default: '23,103,474' },
    texts: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    sides: { type: 'string', default: [...OURS, ...PEERS].join(',') },
    python: { type: 'string' },
  },
});

function makeModel(python, packages) {
  const folder = path.join(BUILD, 'embedder');
  const script = path.join(FOLDER, 'random_embedder.py');
  once(folder, [script], 'random weights of the shape of Qwen3-Embedding-0.6B', () => {
    const texts = path.join(folder, 'texts.json');
    const bodies = makeBodies('sentiment', 2000).map((body) => JSON.parse(body).text);
    fs.writeFileSync(texts, JSON.stringify(bodies));
    run(python, [script, texts, folder], { env: { ...process.env, PYTHONPATH: packages } });
  });
  return folder;
}

/** Figures and vectors of a side; null, with its last words on the terminal, if it fails. */
function ask(side, { folder, python, packages, task }) {
  const command = OURS.includes(side)
    ? [process.execPath, path.join(FOLDER, 'ours.mjs'), side, folder]
    : [python, path.join(FOLDER, 'peer.py'), side, folder];
  const { status, stdout, stderr } = spawnSync(command[0], command.slice(1), {
    cwd: ROOT,
    input: JSON.stringify(task),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, HF_HUB_OFFLINE: '1', TQDM_DISABLE: '1', PYTHONPATH: packages },
  });
  if (status === 0) return JSON.parse(stdout.trim().split('\n').at(-1));
  console.log(`${side} failed: ${stderr.trim().split('\n').at(-1)}`);
  return null;
}

const cosine = (a, b) => {
  const product = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
};

function checkVectors(answers) {
  const expected = answers.float32?.samples;
  if (!expected) return;
  for (const [side, answer] of Object.entries(answers)) {
    if (!answer) continue;
    const cosines = answer.samples.map((vector, i) => cosine(vector, expected[i]));
    const lowest = Math.min(...cosines);
    console.log(`${side}: cosine to float32 ${lowest.toFixed(6)} and more`);
    if (!(lowest >= LEAST_COSINE)) throw new Error(`${side}: other vectors: nothing is reported`);
  }
  const peer = answers[RIVALS.float32[0]]?.samples ?? expected;
  const furthest = Math.max(
    ...expected.flatMap((vector, i) => vector.map((value, j) => Math.abs(value - peer[i][j]))),
  );
  if (!(furthest <= TOLERANCE)) throw new Error(`float32 differs by ${furthest}`);
}

/** Median over the rounds of how many times as fast a side is as the fastest of its rivals. */
function ratioOf(side, kind, rounds) {
  const of = (fastest) =>
    rounds.map((answers) => {
      const own = answers[side].figures[kind];
      const rivals = RIVALS[side].flatMap((rival) => answers[rival]?.figures[kind] ?? []);
      return rivals.length > 0 ? fastest(own, rivals) : Number.NaN;
    });
  const p50 = of((own, rivals) => Math.min(...rivals.map((rival) => rival.p50_ms)) / own.p50_ms);
  const rate = of(
    (own, rivals) => own.texts_per_s / Math.max(...rivals.map((rival) => rival.texts_per_s)),
  );
  return `${median(p50).toFixed(2)}, ${median(rate).toFixed(2)}`;
}

const kinds = options.lengths.split(',');
const texts = (count, tokens) =>
  makeTexts(Array(count).fill(wordsOf(tokens))).map((body) => JSON.parse(body).text);
const task = {
  texts: Object.fromEntries(kinds.map((kind) => [kind, texts(Number(options.texts), Number(kind))])),
  samples: texts(4, 40),
  seconds: Number(options.seconds),
};
const python = setUp({ python: options.python, encoders: true });
const packages = installPackages(python, 'llama-cpp', path.join(FOLDER, 'requirements.txt'));
const folder = makeModel(python, packages);
const sides = options.sides.split(',');
const rounds = Array.from({ length: Number(options.rounds) }, () =>
  Object.fromEntries(sides.map((side) => [side, ask(side, { folder, python, packages, task })])),
);
console.log(machineType(describeMachine()));
checkVectors(rounds[0]);
const answered = sides.filter((side) => rounds.every((answers) => answers[side]));
const table = (names, cell) =>
  console.table(
    Object.fromEntries(
      names.map((side) => [side, Object.fromEntries(kinds.map((kind) => [kind, cell(side, kind)]))]),
    ),
  );
console.log('ms of one text (p50), texts/s of many, MB at most until then');
table(answered, (side, kind) => {
  const of = (figure) => median(rounds.map((answers) => answers[side].figures[kind][figure]));
  return `${of('p50_ms').toFixed(1)}, ${of('texts_per_s').toFixed(2)}, ${of('peak_mb').toFixed(0)}`;
});
console.log('times as fast as the fastest rival: p50, texts/s');
table(
  answered.filter((side) => OURS.includes(side)),
  (side, kind) => ratioOf(side, kind, rounds),
);
