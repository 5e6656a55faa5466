// Loads an engine, uses and closes it, again and again, and says after every round what of the
// process is left: node --expose-gc rounds.cjs sentiment|eeg main|worker ROUNDS
const fs = require('node:fs');
const path = require('node:path');
const { setImmediate: turn } = require('node:timers/promises');
const { Worker, isMainThread, workerData } = require('node:worker_threads');

const ROOT = path.resolve(__dirname, '..', '..', '..');
const { EegEngine, SentimentEngine } = require(path.join(ROOT, 'dist', 'index.js'));

const KINDS = {
  sentiment: { load: (options) => SentimentEngine.load(options), input: 'A warm, funny film.' },
  eeg: {
    load: (options) => EegEngine.load(options),
    input: Array.from({ length: 256 }, (_, i) => Math.sin(i / 5) * 20),
  },
};

async function round({ load, input }) {
  const engine = await load({ workers: 2 });
  await engine.classifyBatch(Array(8).fill(input));
  await engine.close();
}

function inWorker(name) {
  return new Promise((resolve, reject) => {
    new Worker(__filename, { workerData: name }).once('exit', resolve).once('error', reject);
  });
}

function figures() {
  const status = fs.readFileSync('/proc/self/status', 'utf8');
  const kilobytes = (field) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)[1]);
  return {
    anonymousMb: kilobytes('RssAnon') / 1024,
    residentMb: kilobytes('VmRSS') / 1024,
    threads: kilobytes('Threads'),
    // One of them reads the folder.
    descriptors: fs.readdirSync('/proc/self/fd').length - 1,
  };
}

async function main() {
  const [name, where, rounds] = process.argv.slice(2);
  for (let i = 1; i <= Number(rounds); i++) {
    await (where === 'worker' ? inWorker(name) : round(KINDS[name]));
    global.gc?.();
    await turn();
    console.log(JSON.stringify({ msg: 'round', round: i, ...figures() }));
  }
}

if (isMainThread) main();
else round(KINDS[workerData]);
