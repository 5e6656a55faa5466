// Ends a process with a model that does not come back, in the way named by its first argument.
const path = require('node:path');
const { Worker, isMainThread, parentPort } = require('node:worker_threads');

const ROOT = path.resolve(__dirname, '..', '..', '..');
const { TaskModel } = require(path.join(ROOT, 'dist', 'tasks', 'task-model.js'));
const { signalClassification } = require(
  path.join(ROOT, 'dist', 'tasks', 'signal-classification', 'signal-classification-task.js'),
);

/** A minute and more of one operator, once z-normalized: see test/helpers/stuck.ts. */
const ENDLESS = Array.from({ length: 256 }, (_, i) => (i === 100 ? 43 : i % 2 === 0 ? 1 : -1));
const CALM = Array.from({ length: 256 }, (_, i) => Math.sin(i / 5));

const load = (model, inferenceTimeoutMs) =>
  TaskModel.load(signalClassification, path.join(ROOT, 'test', 'fixtures', 'eeg', `${model}.pt`), {
    workers: 1,
    threadsPerWorker: 1,
    maxBatchTokens: 64,
    maxBatchRequests: 1,
    maxQueueDelayMs: 0,
    maxQueueRequests: 100,
    maxQueueWaitMs: 1000,
    inferenceTimeoutMs,
  });

/** Resolves when the model runs for good. */
async function startStuck() {
  const classifier = await load('slow-on-large-input', 1_000_000);
  classifier.run(ENDLESS, {}).catch(() => {});
  while (classifier.monitor.stats().queueRequests > 0) await new Promise(setImmediate);
}

async function loadAndTimeOut() {
  const classifier = await load('slow-on-large-input', 1000);
  await classifier.run(ENDLESS, {}).catch(({ code }) => console.log(code));
  return classifier;
}

const WAYS = {
  async exit() {
    await loadAndTimeOut();
    process.exit(7);
  },
  async 'exit-before-the-limit'() {
    await startStuck();
    process.exit(7);
  },
  async 'exit-during-load'() {
    load('slow-always', 1_000_000);
    setTimeout(() => process.exit(8), 500);
  },
  /** The process ends although a thread has not: nothing else is left to do. */
  async closed() {
    const classifier = await loadAndTimeOut();
    await classifier.close();
    console.log('closed');
  },
  async 'terminated-worker'() {
    const worker = new Worker(__filename);
    await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    await worker.terminate();
    const classifier = await load('plain-cnn-scripted', 60_000);
    await classifier.run(CALM, {});
    console.log('answered');
  },
};

if (isMainThread) WAYS[process.argv[2]]();
else startStuck().then(() => parentPort.postMessage('stuck'));
