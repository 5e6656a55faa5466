/**
 * Families, lengths and number formats beside PyTorch, OpenVINO and onnxruntime, all in process and with
 * tokenization, in one run: p50 of one text, and texts a second of many.
 *
 *   node bench/families.mjs [--models sentiment,bert-base,deberta-v3-xsmall,modernbert-base]
 *     [--lengths mixed,23,103,474] [--texts 64] [--sides …] [--seconds 2] [--rounds 1] [--python …] [--store]
 *
 * Needs a built service (npm run build). `sentiment` is the shipped model; the others have random
 * weights (families/random_models.py). `mixed` are sentences as `npm run bench` sends them, 20 words in
 * the median. --rounds: sides take turns so many times, and each figure is its best: other guests of a host take
 * away and never add. --store writes figures and ratios into bench/results/families.json, for this type of machine; lengths and
 * sides that were not measured this time stay as they are.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeBodies, makeTexts, wordsOf } from './bodies.mjs';
import { ask, makeModel, OURS } from './families/sides.mjs';
import { describeMachine, machineType } from './machine.mjs';
import { BENCH } from './paths.mjs';
import { storeModels } from './report.mjs';
import { setUp } from './setup.mjs';

const RESULTS = path.join(BENCH, 'results/families.json');
const PEERS = [
  'pytorch',
  'openvino-float32',
  'openvino-bfloat16',
  'openvino-int8',
  'onnxruntime-float32',
  'onnxruntime-dynamic',
  'onnxruntime-static',
];
/** What each of ours is compared with: the same numbers, or fewer. */
const RIVALS = {
  float32: ['pytorch', 'openvino-float32', 'onnxruntime-float32'],
  bfloat16: ['openvino-bfloat16'],
  int8: ['openvino-int8', 'onnxruntime-dynamic', 'onnxruntime-static'],
  'int8+bfloat16': ['openvino-int8', 'onnxruntime-dynamic', 'onnxruntime-static'],
};
/** Furthest that a probability of a peer's float32 may be from ours. */
const TOLERANCE = 1e-3;

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: 'sentiment,bert-base,deberta-v3-xsmall,modernbert-base' },
    lengths: { type: 'string', default: 'mixed,23,103,474' },
    texts: { type: 'string', default: '64' },
    sides: { type: 'string', default: [...OURS, ...PEERS].join(',') },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '1' },
    python: { type: 'string' },
    store: { type: 'boolean', default: false },
  },
});

/** What each side says, its figures the best of all rounds; null where it cannot. */
function bestOfRounds(sides, askSide) {
  const rounds = Array.from({ length: Number(options.rounds) }, () =>
    Object.fromEntries(sides.map((side) => [side, askSide(side)])),
  );
  const best = (side) => {
    const answers = rounds.map((round) => round[side]);
    if (answers.includes(null)) return null;
    const all = (kind, figure) => answers.map(({ figures }) => figures[kind][figure]);
    const figures = Object.keys(answers[0].figures).map((kind) => [
      kind,
      {
        p50_ms: Math.min(...all(kind, 'p50_ms')),
        texts_per_s: Math.max(...all(kind, 'texts_per_s')),
        peak_mb: Math.max(...all(kind, 'peak_mb')),
      },
    ]);
    return { ...answers[0], figures: Object.fromEntries(figures) };
  };
  return Object.fromEntries(sides.map((side) => [side, best(side)]));
}

function checkAnswers(name, answers) {
  const expected = answers.float32?.samples;
  for (const side of RIVALS.float32) {
    const samples = answers[side]?.samples;
    if (!expected || !samples) continue;
    const furthest = Math.max(
      ...expected.flatMap((row, i) => row.map((score, j) => Math.abs(score - samples[i][j]))),
    );
    if (!(furthest <= TOLERANCE)) {
      throw new Error(`${name}: the answers of ${side} differ by ${furthest}: nothing is reported`);
    }
  }
}

/** How many times as fast ours is as the best of its rivals, in each figure; null: there is none. */
function ratios(answers, kind) {
  return Object.fromEntries(
    OURS.filter((side) => answers[side]).map((side) => {
      const own = answers[side].figures[kind];
      const rivals = RIVALS[side].flatMap((rival) => answers[rival]?.figures[kind] ?? []);
      const rounded = (value) => (rivals.length > 0 ? Number(value.toFixed(2)) : null);
      const fastest = Math.min(...rivals.map(({ p50_ms }) => p50_ms));
      const most = Math.max(...rivals.map(({ texts_per_s }) => texts_per_s));
      return [
        side,
        { p50: rounded(fastest / own.p50_ms), texts_per_s: rounded(own.texts_per_s / most) },
      ];
    }),
  );
}

function report(name, kinds, answers) {
  console.log(`\n${name}: ms of one text (p50), texts/s of many, MB at most until then`);
  const cell = ({ p50_ms, texts_per_s, peak_mb }) =>
    `${p50_ms.toFixed(2)}, ${Number(texts_per_s.toPrecision(4))}, ${peak_mb.toFixed(0)}`;
  console.table(
    Object.fromEntries(
      Object.entries(answers).map(([side, answer]) => [
        side,
        Object.fromEntries(kinds.map((kind) => [kind, answer ? cell(answer.figures[kind]) : '-'])),
      ]),
    ),
  );
  const compared = Object.fromEntries(kinds.map((kind) => [kind, ratios(answers, kind)]));
  console.log('times as fast as the best rival with such numbers: p50, texts/s');
  console.table(
    Object.fromEntries(
      OURS.filter((side) => answers[side]).map((side) => [
        side,
        Object.fromEntries(
          kinds.map((kind) => {
            const { p50, texts_per_s: rate } = compared[kind][side];
            return [kind, `${p50 ?? '-'}, ${rate ?? '-'}`];
          }),
        ),
      ]),
    ),
  );
  return compared;
}

function textsOf(kind) {
  const bodies =
    kind === 'mixed'
      ? makeBodies('sentiment', 256)
      : makeTexts(Array(Number(options.texts)).fill(wordsOf(Number(kind))));
  return bodies.map((body) => JSON.parse(body).text);
}

const kinds = options.lengths.split(',');
const task = {
  texts: Object.fromEntries(kinds.map((kind) => [kind, textsOf(kind)])),
  samples: textsOf('mixed').slice(0, 10),
  seconds: Number(options.seconds),
};
const python = setUp({ python: options.python, encoders: true });
const type = machineType(describeMachine());
console.log(type);
for (const name of options.models.split(',')) {
  const folder = makeModel(name, python);
  const answers = bestOfRounds(options.sides.split(','), (side) =>
    ask(side, { name, folder, python, task }),
  );
  checkAnswers(name, answers);
  const ratiosOf = report(name, kinds, answers);
  if (options.store) {
    storeModels(RESULTS, type, { [name]: { answers: figuresOf(answers), ratios: ratiosOf } });
  }
}

function figuresOf(answers) {
  const shorter = (_, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value);
  const figures = Object.entries(answers).map(([side, answer]) => [side, answer?.figures ?? null]);
  return JSON.parse(JSON.stringify(Object.fromEntries(figures), shorter));
}
