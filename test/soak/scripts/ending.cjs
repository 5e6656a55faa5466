// Uses an engine and ends, as a program would that embeds it.
//   node ending.cjs PHASE WAY DELAY_MS sentiment|eeg
// Says "begun" when it is in the phase, and after the delay ends in the way; ways that come from
// outside, signals, it waits for.
const path = require('node:path');
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');

const ROOT = path.resolve(__dirname, '..', '..', '..');
const { EegEngine, SentimentEngine } = require(path.join(ROOT, 'dist', 'index.js'));
const FIXTURES = path.join(ROOT, 'test', 'fixtures');

const LARGE_QUEUE = {
  workers: 2,
  maxBatchRequests: 4,
  maxQueueRequests: 100_000,
  maxQueueWaitMs: 600_000,
};
const KINDS = {
  sentiment: {
    load: () =>
      SentimentEngine.load({
        modelDirectory: path.join(FIXTURES, 'models', 'bert-single-label'),
        ...LARGE_QUEUE,
      }),
    input: 'good film '.repeat(15),
  },
  eeg: {
    load: () =>
      EegEngine.load({
        modelPath: path.join(FIXTURES, 'eeg', 'plain-cnn-scripted.pt'),
        ...LARGE_QUEUE,
      }),
    input: Array.from({ length: 256 }, (_, i) => Math.sin(i / 5) * 20),
  },
};

/** More than can be computed before the process has ended; of what is to be waited for, some. */
const MUCH = 10_000;
const SOME = 300;
/** Of a process in which an answer that was due never came. */
const EXIT_UNANSWERED = 9;

let unanswered = 0;

/** Resolves when some answers are in. */
async function startWork(engine, { input }, count) {
  const all = Array.from({ length: count }, async () => {
    unanswered += 1;
    await engine.classify(input);
    unanswered -= 1;
  });
  for (const one of all) one.catch(() => {});
  await all[10];
}

/** Enters the phase; calls `begun` in it. The start begins before the addon is opened. */
async function enter(phase, kind, count, begun) {
  if (phase === 'start') {
    begun();
    await kind.load();
    return;
  }
  const engine = await kind.load();
  await engine.classify(kind.input);
  if (phase !== 'idle') await startWork(engine, kind, count);
  if (phase === 'shutdown') engine.close();
  begun();
}

const after = (delayMs, end) => setTimeout(end, delayMs);
const forSignals = () => setInterval(() => {}, 1000);

/** The engine is in a worker; `end` is given that. */
function inWorker(end) {
  return (delayMs, phase, name) => {
    const worker = new Worker(__filename, { workerData: { phase, name } });
    worker.once('message', () => after(delayMs, () => end(worker)));
  };
}

const ALONE = {
  'empty loop': () => {
    process.on('exit', () => {
      if (unanswered > 0) process.exitCode = EXIT_UNANSWERED;
    });
  },
  'process.exit': (delayMs) => after(delayMs, () => process.exit(7)),
  'uncaught exception': (delayMs) =>
    after(delayMs, () => {
      throw new Error('nobody catches this');
    }),
  'unhandled rejection': (delayMs) =>
    after(delayMs, () => Promise.reject(new Error('nobody handles this'))),
  SIGTERM: forSignals,
  SIGINT: forSignals,
  /** Its parent read what it writes. */
  'killed parent': () => setInterval(() => process.stdout.write('working\n'), 5),
};

const AROUND_WORKERS = {
  'worker.terminate': inWorker((worker) => worker.terminate()),
  'process.exit around a worker': inWorker(() => process.exit(7)),
};

async function main() {
  const [phase, way, delayMs, name] = process.argv.slice(2);
  const begun = () => process.stdout.write('{"msg":"begun"}\n');
  if (way in AROUND_WORKERS) {
    AROUND_WORKERS[way](Number(delayMs), phase, name);
    begun();
    return;
  }
  await enter(phase, KINDS[name], way === 'empty loop' ? SOME : MUCH, () => {
    begun();
    ALONE[way](Number(delayMs));
  });
}

if (isMainThread) {
  main();
} else {
  const { phase, name } = workerData;
  enter(phase, KINDS[name], MUCH, () => parentPort.postMessage('begun'));
}
