/**
 * What the clients of one model wait while another one is exchanged again and again, against what they wait while it
 * is not, by turns: latencies, and how long GET /health takes, which the event loop answers.
 *
 *   node bench/swaps.mjs [--model models/sentiment] [--loaded DIR] [--clients 8] [--rounds 5] [--seconds 5]
 *     [--every 200]
 *
 * --model: of which all are copies; --loaded: a model that nobody asks and that is unloaded and loaded again and again,
 * instead of the exchange; --clients: of each model, in a closed loop; --every: ms from one exchange to the
 * next, which does not begin before the last one has ended. Needs a built project (npm run build).
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeBodies } from './bodies.mjs';
import { Connection, load, prepareRequest } from './load.mjs';
import { startModels } from './models-service.mjs';
import { ROOT } from './paths.mjs';
import { median } from './report.mjs';

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: path.join(ROOT, 'models/sentiment') },
    loaded: { type: 'string' },
    clients: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    every: { type: 'string', default: '200' },
  },
});
const [clients, seconds] = [Number(options.clients), Number(options.seconds)];
const bodies = makeBodies('sentiment', 400);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'libtorch-serve-bench-'));

function copy(name) {
  const model = path.join(folder, name);
  fs.cpSync(options.model, model, { recursive: true });
  fs.writeFileSync(path.join(model, 'model.json'), '{"required": true}');
}

/** The same files under another name, without a copy of their bytes. */
function link(source, name) {
  const model = path.join(folder, name);
  fs.mkdirSync(model);
  for (const file of fs.readdirSync(source)) {
    const to = path.join(model, file);
    try {
      fs.linkSync(path.join(source, file), to);
    } catch {
      fs.copyFileSync(path.join(source, file), to); // another file system
    }
  }
}

/** Other files under the same name: two folders change places. */
function exchange() {
  const at = (name) => path.join(folder, name);
  fs.renameSync(at('films'), at('.before'));
  fs.renameSync(at('.next'), at('films'));
  fs.renameSync(at('.before'), at('.next'));
}

/** Exchanges until it is told to stop; how long each took, in ms. */
async function swap(port, isOver) {
  const connection = new Connection(port);
  const [unload, request] = ['unload', 'load'].map((verb) =>
    prepareRequest(`/v2/repository/models/films/${verb}`, '{}'),
  );
  const took = [];
  while (!isOver()) {
    if (options.loaded) await connection.ask(unload);
    else exchange();
    const start = performance.now();
    const { status } = await connection.ask(request);
    if (status !== 200) throw new Error(`the exchange was answered ${status}`);
    took.push(performance.now() - start);
    await sleep(Math.max(0, Number(options.every) - (performance.now() - start)));
  }
  connection.close();
  return took;
}

function ask(port, name) {
  const requests = bodies.map((body) => prepareRequest(`/models/${name}/analyze`, body));
  return load({ port, requests, clients, seconds, warmup: 1 });
}

async function measure(port, isSwapping) {
  let isOver = false;
  const swapping = isSwapping ? swap(port, () => isOver) : Promise.resolve([]);
  const nobody = { bad: 0 };
  const [other, films] = await Promise.all([
    ask(port, 'other'),
    options.loaded ? nobody : ask(port, 'films'),
  ]);
  isOver = true;
  return { other, films, swaps: await swapping };
}

try {
  for (const name of options.loaded ? ['other'] : ['other', 'films', '.next']) copy(name);
  if (options.loaded) link(options.loaded, 'films');
  const { port, stop } = await startModels(folder);
  await measure(port, true); // once, so that both have been done
  const rounds = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    rounds.push([await measure(port, false), await measure(port, true)]);
  }
  await stop();
  const of = (index, read) => median(rounds.map((each) => read(each[index], each[0])));
  console.table(
    ['undisturbed', 'during exchanges'].map((name, index) => ({
      'the other model': name,
      'requests/s': of(index, ({ other }) => other.rps).toFixed(1),
      'p50 ms': of(index, ({ other }) => other.p50_ms).toFixed(1),
      'p99 ms': of(index, ({ other }) => other.p99_ms).toFixed(1),
      'p99, of undisturbed': of(
        index,
        ({ other }, first) => other.p99_ms / first.other.p99_ms,
      ).toFixed(2),
      'p99 of /health, ms': of(index, ({ other }) => other.health_p99_ms).toFixed(1),
      'not 200': of(index, ({ other, films }) => other.bad + films.bad).toFixed(0),
      exchanges: of(index, ({ swaps }) => swaps.length).toFixed(0),
      'ms each': of(index, ({ swaps }) => (swaps.length ? median(swaps) : 0)).toFixed(0),
    })),
  );
} finally {
  fs.rmSync(folder, { recursive: true });
}
