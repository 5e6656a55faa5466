// Lets go of engines that nobody closes, and says in a line of JSON what came of it:
// node --expose-gc collected.cjs infer|close|idle
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..', '..', '..');
const { Engine } = require(path.join(ROOT, 'dist', 'native', 'engine.js'));
const SCHEDULING = require(path.join(ROOT, 'test', 'helpers', 'scheduling.json'));

/** What z-normalization makes of a window with one large value. */
const LARGE = Float32Array.from({ length: 256 }, (_, i) => (i === 100 ? 15 : 0));
/** The model does not end by itself: each run takes this long, on any machine. */
const RUN_MS = 4000;

const load = () =>
  Engine.load(
    {
      type: 'signal-program',
      path: path.join(ROOT, 'test', 'fixtures', 'eeg', 'endless-on-large-input.pt'),
      windowLength: LARGE.length,
    },
    { ...SCHEDULING, workers: 1, inferenceTimeoutMs: RUN_MS },
  );

/** What is left of an engine that is let go of: nothing that it could be used by. */
const WAYS = {
  async infer() {
    const engine = await load();
    return { engine: new WeakRef(engine.native), end: engine.infer(LARGE) };
  },
  async close() {
    const engine = await load();
    engine.infer(LARGE).catch(() => {});
    return { engine: new WeakRef(engine.native), end: engine.close() };
  },
  async idle() {
    return { engine: new WeakRef((await load()).native), end: Promise.resolve() };
  },
};

const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

async function main() {
  const { engine, end } = await WAYS[process.argv[2]]();
  let outcome;
  end.then(
    () => {
      outcome = 'ended';
    },
    ({ code }) => {
      outcome = code;
    },
  );
  let longestTurnMs = 0;
  let isCollected = false;
  const latest = performance.now() + 15 * RUN_MS;
  while (!(outcome && isCollected) && performance.now() < latest) {
    // What was asked after is kept until this turn ends.
    isCollected ||= engine.deref() === undefined;
    const start = performance.now();
    await turn();
    globalThis.gc();
    longestTurnMs = Math.max(longestTurnMs, performance.now() - start);
  }
  console.log(JSON.stringify({ outcome, isCollected, longestTurnMs, runMs: RUN_MS }));
}

main();
