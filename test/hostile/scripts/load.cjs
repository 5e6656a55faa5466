// Loads one model after another, as told on standard input, a line of JSON each, and says what came
// of it on standard output. Whoever started it sees by its end which of them ended the process.
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const readline = require('node:readline');
const { isDeepStrictEqual } = require('node:util');
const { EegEngine, SentimentEngine } = require('../../../dist/index.js');

const windowOf = (length) => Array.from({ length }, (_, i) => Math.sin(i / 5) * 20);

/** The most memory that the process has held since the last call, in bytes. */
function peakSinceLast() {
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
  writeFileSync('/proc/self/clear_refs', '5');
  return Number(peak[1]) * 1024;
}

async function answerOf(service, place, dtype) {
  const options = { workers: 1, inferenceTimeoutMs: 20_000 };
  const engine =
    service === 'eeg'
      ? await EegEngine.load({ ...options, modelPath: place })
      : await SentimentEngine.load({ ...options, modelDirectory: place, dtype });
  try {
    const input = service === 'eeg' ? windowOf(engine.windowLength) : 'A quiet, funny film.';
    const answer = await engine.classify(input);
    const again = await engine.classify(input);
    return { ...answer, repeats: isDeepStrictEqual(again, answer) };
  } finally {
    await engine.close();
  }
}

async function tryOne({ service, place, dtype }) {
  peakSinceLast();
  existsSync('/a-load-begins'); // for whoever traces this process
  const start = performance.now();
  const result = { answer: null, error: null, code: null };
  try {
    result.answer = await answerOf(service, place, dtype);
  } catch (error) {
    result.error = error.message;
    result.code = error.code ?? error.name;
  }
  const ms = performance.now() - start;
  existsSync('/a-load-ends');
  return { ...result, ms, peak: peakSinceLast() };
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await tryOne(JSON.parse(line)))}\n`);
  }
}

main();
