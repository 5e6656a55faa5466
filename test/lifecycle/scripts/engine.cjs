// Uses engines in the way named by the first argument, and ends because nothing is left to do.
const path = require('node:path');
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');

const ROOT = path.resolve(__dirname, '..', '..', '..');
const { TaskModel } = require(path.join(ROOT, 'dist', 'tasks', 'task-model.js'));
const { textClassification } = require(
  path.join(ROOT, 'dist', 'tasks', 'text-classification', 'text-classification-task.js'),
);

const MODEL = path.join(ROOT, 'test', 'fixtures', 'models', 'bert-single-label');
const SCHEDULING = {
  workers: 2,
  threadsPerWorker: 1,
  maxBatchTokens: 64,
  maxBatchRequests: 2,
  maxQueueDelayMs: 0,
  maxQueueRequests: 100_000,
  inferenceTimeoutMs: 60_000,
  maxQueueWaitMs: 600_000,
};

const load = () => TaskModel.load(textClassification, MODEL, SCHEDULING);

/** Far more work than can be done before the process has ended; resolves when some is. */
async function startWork(classifier) {
  const all = Array.from({ length: 20_000 }, () => classifier.run('good film '.repeat(15), {}));
  for (const one of all) one.catch(() => {});
  await all[10];
}

const WAYS = {
  async closed() {
    const classifier = await load();
    const answers = Promise.all(Array.from({ length: 100 }, () => classifier.run('good', {})));
    await Promise.all([classifier.close(), classifier.close()]);
    await answers;
    await classifier.run('late', {}).then(
      () => process.exit(1),
      (error) => console.log(error.code),
    );
  },
  async 'two-engines'() {
    const [first, second] = await Promise.all([load(), load()]);
    await first.close();
    await second.run('good', {});
    console.log('answered');
  },
  /** Three times, since each leaves the addon in the process for the next. */
  async 'terminated-workers'() {
    for (let round = 0; round < 3; round++) {
      const worker = new Worker(__filename, { workerData: 'work' });
      await new Promise((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
      await worker.terminate();
    }
    const classifier = await load();
    await classifier.run('good', {});
    console.log('answered');
  },
  async 'worker-that-ends'() {
    const worker = new Worker(__filename, { workerData: 'one' });
    const code = await new Promise((resolve) => worker.once('exit', resolve));
    process.exitCode = code;
  },
};

const IN_WORKER = {
  async work() {
    await startWork(await load());
    parentPort.postMessage('working');
  },
  async one() {
    await (await load()).run('good', {});
  },
};

(isMainThread ? WAYS[process.argv[2]] : IN_WORKER[workerData])();
