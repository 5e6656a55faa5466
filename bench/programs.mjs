/**
 * What models cost in the forms in which they come, without HTTP: rates and processor time of an
 * engine, in turn within each round, as ratios to the first of them in the same round.
 *
 *   node bench/programs.mjs signals [--rounds 7] [--clients 64]
 *   node bench/programs.mjs texts DIRECTORY DIRECTORY ... [--dtype float32] [--rounds 5]
 *
 * signals: the families of test/fixtures, as TorchScript (the first) and as torch.export saved them.
 * texts: folders of one model; `python scripts/export.py models/sentiment --output DIRECTORY` makes one.
 *
 * Needs a built project (npm run build).
 */
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { median } from './report.mjs';

const require = createRequire(import.meta.url);
const ROOT = path.resolve(import.meta.dirname, '..');
const { Engine } = require(path.join(ROOT, 'dist/native/engine.js'));
const { readModelDirectory } = require(
  path.join(ROOT, 'dist/tasks/text-classification/model-directory.js'),
);

const TORCHSCRIPT = 'test/fixtures/eeg';
const EXPORTED = 'test/fixtures/exported/signals';
/** TorchScript, and the same module exported; the weights are others, the work is the same. */
const FAMILIES = [
  ['plain-cnn-frozen', 'plain-cnn', 'plain-cnn-decomposed'],
  ['eegnet-traced', 'eegnet'],
  ['eegnet-same-traced-tuple', 'eegnet-same-dict-decomposed'],
  ['resnet-traced-dict', 'resnet-tuple', 'resnet-decomposed'],
  ['tcn-traced', 'tcn-weight-norm', 'tcn-decomposed'],
  ['cnn-gru-traced', 'cnn-gru'],
  ['cnn-lstm-traced', 'cnn-lstm'],
  ['transformer-traced', 'transformer', 'transformer-decomposed'],
];
const WINDOW = 256;
const WINDOWS = 4000;
const TEXTS = 512;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '7' },
    clients: { type: 'string', default: '64' },
    dtype: { type: 'string', default: 'float32' },
  },
});
const [what, ...directories] = positionals;
const scheduling = {
  dtype: options.dtype,
  workers: os.availableParallelism(),
  threadsPerWorker: 1,
  maxBatchTokens: what === 'signals' ? 262_144 : 4096,
  maxBatchRequests: 64,
  maxQueueDelayMs: 0,
  maxQueueRequests: 10_000,
  inferenceTimeoutMs: 60_000,
  maxQueueWaitMs: 600_000,
};

async function measure(engine, inputs, count) {
  let next = 0;
  const client = async () => {
    while (next < count) await engine.infer(inputs[next++ % inputs.length], {});
  };
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  await Promise.all(Array.from({ length: Number(options.clients) }, client));
  const { user, system } = process.cpuUsage(cpu);
  return { rate: (1000 * count) / (performance.now() - began), cpu: (user + system) / count };
}

/** `sources`: name → what Engine.load takes; the first is what the others are compared with. */
async function compare(sources, inputs, count) {
  const engines = [];
  for (const [, source] of sources) engines.push(await Engine.load(source, scheduling));
  for (const engine of engines) await measure(engine, inputs, count / 4);
  const rounds = [];
  for (let round = 0; round < Number(options.rounds); round += 1) {
    const results = [];
    for (const engine of engines) results.push(await measure(engine, inputs, count));
    rounds.push(results);
  }
  for (const engine of engines) await engine.close();
  return sources.map(([name], index) => {
    const over = (figure) => median(rounds.map((results) => figure(results[index], results[0])));
    return {
      model: name,
      'a second': over(({ rate }) => rate).toFixed(0),
      times: over(({ rate }, first) => rate / first.rate).toFixed(2),
      'CPU µs': over(({ cpu }) => cpu).toFixed(1),
      'times less CPU': over(({ cpu }, first) => first.cpu / cpu).toFixed(2),
    };
  });
}

if (what === 'signals') {
  const signal = () => Float32Array.from({ length: WINDOW }, () => 2 * Math.random() - 1);
  const windows = Array.from({ length: 256 }, signal);
  const rows = [];
  for (const [first, ...others] of FAMILIES) {
    const files = [
      `${TORCHSCRIPT}/${first}.pt`,
      ...others.map((name) => `${EXPORTED}/${name}.pt2`),
    ];
    const sources = files.map((file) => [
      path.basename(file),
      { type: 'signal-program', path: path.join(ROOT, file), windowLength: WINDOW },
    ]);
    rows.push(...(await compare(sources, windows, WINDOWS)));
  }
  console.table(rows);
} else if (what === 'texts' && directories.length > 0) {
  const texts = makeBodies('sentiment', TEXTS).map((body) => JSON.parse(body).text);
  const sources = directories.map((directory) => [
    directory,
    readModelDirectory(path.resolve(directory)).source,
  ]);
  console.table(await compare(sources, texts, TEXTS));
} else {
  console.error('expected signals, or texts and folders; see the head of bench/programs.mjs');
  process.exitCode = 2;
}
