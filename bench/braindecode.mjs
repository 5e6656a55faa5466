/**
 * Models of braindecode: which load, the largest difference to PyTorch, and windows a second of the embedded API and
 * of PyTorch, in turn within each round, with the same number of threads each.
 *
 *   python test/parity/braindecode_models.py build/braindecode
 *   node bench/braindecode.mjs build/braindecode [--python python] [--seconds 0.4] [--rounds 5] [--threads 2] [--only EEGNet,CTNet]
 *
 * --rounds 0 measures no speed. With several threads the machine must be idle: threads of PyTorch wait for each other,
 * so that any other process on a core delays all of them. Prints a Markdown table; --write puts it into
 * docs/reference/braindecode.md. `results.json` in the folder keeps the results, so that --only measures some models
 * again. Needs a built project (npm run build).
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { median } from './report.mjs';

const require = createRequire(import.meta.url);
const ROOT = path.resolve(import.meta.dirname, '..');
const { SignalClassifier } = require(path.join(ROOT, 'dist/index.js'));
const PAGE = path.join(ROOT, 'docs/reference/braindecode.md');
const TOLERANCE = 1e-5;
const BATCHES = [1, 32];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: 'string', default: 'python' },
    seconds: { type: 'string', default: '0.4' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: '2' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const ASKED = { seconds: Number(options.seconds), threads: Number(options.threads) };
const folder = path.resolve(positionals[0] ?? 'build/braindecode');
const readJson = (...parts) => JSON.parse(readFileSync(path.join(folder, ...parts), 'utf8'));

/** A Python process that runs models; answers one line of JSON for each line. */
function startPython() {
  const script = path.join(import.meta.dirname, 'braindecode_rates.py');
  const child = spawn(options.python, ['-W', 'ignore', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, OMP_NUM_THREADS: options.threads },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(question) {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error('braindecode_rates.py has ended');
      return JSON.parse(value);
    },
    end: () => child.stdin.end(),
  };
}

/** Windows a second. */
async function rate(run, batch) {
  const began = performance.now();
  let windows = 0;
  do {
    await run();
    windows += batch;
  } while (performance.now() - began < 1000 * ASKED.seconds);
  return (1000 * windows) / (performance.now() - began);
}

function softmax(logits) {
  const max = Math.max(...logits);
  const weights = logits.map((value) => Math.exp(value - max));
  const sum = weights.reduce((all, each) => all + each, 0);
  return weights.map((weight) => weight / sum);
}

/** Largest difference of a probability: each window alone, then all of them in a batch. */
async function differenceOf(classifier, windows, outputs) {
  const alone = [];
  for (const window of windows) alone.push(await classifier.classify(window));
  const together = await classifier.classifyBatch(windows);
  const expected = outputs.map(softmax);
  const differences = [alone, together].flatMap((results) =>
    results.flatMap(({ probabilities }, index) =>
      Object.values(probabilities).map((value, i) => Math.abs(value - expected[index][i])),
    ),
  );
  return Math.max(...differences);
}

async function speedsOf(classifier, python, model, windows) {
  const rounds = [];
  for (let round = -1; round < Number(options.rounds); round += 1) {
    const result = {};
    for (const batch of BATCHES) {
      const several = Array.from({ length: batch }, (_, i) => windows[i % windows.length]);
      const ours = await rate(() => classifier.classifyBatch(several), batch);
      const { rate: theirs } = await python.ask({ model, batch, ...ASKED });
      result[batch] = { ours, theirs };
    }
    if (round >= 0) rounds.push(result); // the first one warms up
  }
  return Object.fromEntries(
    BATCHES.map((batch) => [
      batch,
      {
        ours: median(rounds.map((round) => round[batch].ours)),
        times: median(rounds.map((round) => round[batch].ours / round[batch].theirs)),
      },
    ]),
  );
}

async function check(name, python) {
  const report = readJson(name, 'report.json');
  if (report.reason) return { ...report, reason: report.reason };
  let classifier;
  try {
    classifier = await SignalClassifier.load({
      modelPath: path.join(folder, name, 'model.pt2'),
      workers: 1,
      threadsPerWorker: ASKED.threads,
      inferenceTimeoutMs: 120_000,
      maxQueueWaitMs: 600_000,
    });
  } catch (error) {
    return { ...report, reason: error.message };
  }
  try {
    const { windows, outputs } = readJson(name, 'windows.json');
    const difference = await differenceOf(classifier, windows, outputs);
    if (!(difference <= TOLERANCE)) {
      return { ...report, reason: `differs from PyTorch by ${difference.toExponential(1)}` };
    }
    const measures = Number(options.rounds) > 0;
    const speeds = measures ? await speedsOf(classifier, python, name, windows) : null;
    return { ...report, difference, speeds };
  } finally {
    await classifier.close();
  }
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll(/\s+/g, ' ');

function table(results) {
  const served = results.filter(({ reason }) => !reason);
  const rows = served.map(({ model, channels, samples, difference, batch, speeds }) => [
    model,
    `${channels} × ${samples}`,
    batch,
    difference.toExponential(1),
    ...BATCHES.flatMap((size) =>
      speeds
        ? [String(Number(speeds[size].ours.toPrecision(3))), speeds[size].times.toFixed(2)]
        : ['–', '–'],
    ),
  ]);
  const not = results.filter(({ reason }) => reason);
  return [
    `${served.length} of ${results.length} models load and match PyTorch within ${TOLERANCE}.`,
    '',
    '| Model | Channels × samples | Batch | Largest difference | Windows/s, batch of 1 | × PyTorch | Windows/s, batch of 32 | × PyTorch |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
    '| Model | Reason why it is not served |',
    '| --- | --- |',
    ...not.map(({ model, reason }) => `| ${model} | ${cell(reason)} |`),
  ].join('\n');
}

const only = options.only?.split(',');
const names = (only ?? readdirSync(folder)).filter((name) =>
  existsSync(path.join(folder, name, 'report.json')),
);
const python = Number(options.rounds) > 0 ? startPython() : null;
const RESULTS = path.join(folder, 'results.json');
const results = only && existsSync(RESULTS) ? readJson('results.json') : {};
for (const name of names) {
  const result = await check(name, python);
  results[name] = result;
  writeFileSync(RESULTS, JSON.stringify(results));
  console.error(
    name,
    result.reason ?? JSON.stringify({ difference: result.difference, ...result.speeds }),
  );
}
python?.end();
const sorted = Object.values(results).sort((a, b) => (a.model < b.model ? -1 : 1));
const text = table(sorted);
console.log(text);
if (options.write) {
  const marks = /(<!-- begin: models -->)[\s\S]*(<!-- end: models -->)/;
  writeFileSync(
    PAGE,
    readFileSync(PAGE, 'utf8').replace(marks, (_, begin, end) => `${begin}\n${text}\n${end}`),
  );
}
