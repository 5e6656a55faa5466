// Fuzzes one target of test/fuzz/javascript/targets, guided by which branches run, and prints what came
// of it as JSON: node coverage-guided.mjs TARGET SECONDS SEED [--keep]
//
// No library does this here: @jazzer.js/core 4, the one that is kept up, has a binary for Linux that
// needs glibc 2.38, and Debian 12 has 2.36.
//
// --keep writes the inputs that cover most, short ones first, into test/fuzz/javascript/corpus.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build, transform } from 'esbuild';
import { createInstrumenter } from 'istanbul-lib-instrument';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const FOLDER = path.join(ROOT, 'test', 'fuzz', 'javascript');
/** File and export. */
const TARGETS = {
  schemas: ['schemas', 'schemas'],
  settings: ['schemas', 'settings'],
  edf: ['recordings', 'edf'],
  bdf: ['recordings', 'bdf'],
  xdf: ['recordings', 'xdf'],
  brainvision: ['recordings', 'brainVision'],
  csv: ['recordings', 'csv'],
  'z-normalization': ['numbers', 'normalization'],
  rounding: ['numbers', 'rounding'],
  traceparent: ['headers', 'traceparent'],
  'request-target': ['headers', 'requestTarget'],
  redaction: ['guard', 'redaction'],
};

/** What is instrumented: ours, and what reads files for the page. */
const INSTRUMENTED = /\/(?:src\/.+\.ts|csv-parse\/.+\.js)$/;
/** No input takes so long; twice as long as a machine may stand still. */
const HANG_MS = 30_000;
const MOST_BYTES = 1 << 16;
const MOST_KEPT = 80;

const [name, seconds, seed, keep] = process.argv.slice(2);

const instrument = {
  name: 'instrument',
  setup({ onLoad }) {
    onLoad({ filter: INSTRUMENTED }, async ({ path: file }) => {
      const source = readFileSync(file, 'utf8');
      const loader = file.endsWith('.ts') ? 'ts' : 'js';
      const { code } = await transform(source, { loader, target: 'es2022' });
      const instrumenter = createInstrumenter({ esModules: /^\s*(?:import|export) /m.test(code) });
      return {
        contents: instrumenter.instrumentSync(code, path.relative(ROOT, file)),
        loader: 'js',
      };
    });
  },
};

/** The inputs that are kept for a target, base64. */
function readCorpus(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

function writeCorpus(file, inputs) {
  const shortest = [...new Set(inputs)].sort((a, b) => a.length - b.length).slice(0, MOST_KEPT);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(shortest, null, 2)}\n`);
}

const [file, target] = TARGETS[name];
const { outputFiles } = await build({
  absWorkingDir: ROOT,
  stdin: {
    contents:
      `import { fuzzInWorker } from './fuzz'; import { ${target} } from './targets/${file}';` +
      `fuzzInWorker(${target});`,
    resolveDir: FOLDER,
  },
  bundle: true,
  write: false,
  platform: 'node',
  format: 'cjs',
  plugins: [instrument],
});
const corpusFile = path.join(FOLDER, 'corpus', `${name}.json`);
const current = new SharedArrayBuffer(8 + MOST_BYTES);
const head = new Int32Array(current, 0, 2);
const workerData = {
  seed: Number(seed),
  seconds: Number(seconds),
  corpus: readCorpus(corpusFile),
  current,
};
const worker = new Worker(outputFiles[0].text, { eval: true, workerData });
const input = () => Buffer.from(new Uint8Array(current, 8, head[1])).toString('base64');

let [last, since] = [0, Date.now()];
const watch = setInterval(() => {
  const runs = Atomics.load(head, 0);
  if (runs !== last) [last, since] = [runs, Date.now()];
  else if (Date.now() - since > HANG_MS) end({ found: `no end within ${HANG_MS} ms`, runs });
}, 500);
worker.once('error', (error) => end({ found: String(error) }));
worker.once('message', end);

function end({ kept, ...result }) {
  clearInterval(watch);
  void worker.terminate();
  if (keep === '--keep' && kept) writeCorpus(corpusFile, kept);
  console.log(
    JSON.stringify({ ...result, kept: kept?.length, ...(result.found && { input: input() }) }),
  );
}
