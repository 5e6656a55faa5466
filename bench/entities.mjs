/**
 * Entities of 6 labels over texts of 128 and 512 tokens, prompt included, beside gliner with FastAPI (PyTorch and
 * onnxruntime), over HTTP, in one run.
 *
 *   node bench/entities.mjs [--tokens 128,512] [--clients 1,8,64] [--sides …] [--seconds 4] [--rounds 1]
 *
 * Needs a built service (npm run build). The model has the shape of gliner_small-v2.1 and random weights.
 */
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeTexts } from './bodies.mjs';
import { load, prepareRequest } from './load.mjs';
import { describeMachine } from './machine.mjs';
import { BENCH, BUILD, MODELS, ROOT } from './paths.mjs';
import { median } from './report.mjs';
import { freePort, startProcess } from './servers.mjs';
import { once, run, setUp } from './setup.mjs';

const LABELS = ['person', 'organization', 'city', 'date', 'product', 'event'];
/** Words of a text whose tokens, with those of the labels, are about so many. */
const WORDS = { 128: 98, 512: 448 };
const HERE = path.join(BENCH, 'entities');
const MODEL = path.join(BUILD, 'shapes/gliner-small');

const { values: options } = parseArgs({
  options: {
    tokens: { type: 'string', default: '128,512' },
    clients: { type: 'string', default: '1,8,64' },
    sides: { type: 'string', default: 'float32,int8,gliner,gliner-onnx' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '1' },
  },
});

const python = setUp({ nodeOrt: false, sentiment: false });
const requirements = path.join(HERE, 'requirements.txt');
// gliner asks for an older transformers than the peers have, and runs with it.
const packages = path.join(BUILD, 'gliner');
once(packages, [requirements], 'gliner', () =>
  run(python, [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--no-deps',
    '--target',
    packages,
    '-r',
    requirements,
  ]),
);
const env = { ...process.env, HF_HUB_OFFLINE: '1', PYTHONPATH: packages };
const maker = path.join(HERE, 'random_gliner.py');
once(MODEL, [maker], 'random weights of the shape of gliner_small', () =>
  run(python, [maker, path.join(MODELS, 'sentiment'), MODEL], { env }),
);

function commandOf(side, port) {
  if (!side.startsWith('gliner')) {
    return {
      run: [process.execPath, path.join(ROOT, 'dist/main.js'), 'serve', MODEL],
      env: { ...process.env, PORT: String(port), DTYPE: side, MAX_QUEUE_WAIT_MS: '600000' },
    };
  }
  const runtime = side.endsWith('onnx') ? 'onnx' : 'torch';
  const uvicorn = ['-m', 'uvicorn', '--app-dir', HERE, 'server:app', '--no-access-log'];
  return {
    run: [python, ...uvicorn, '--host', '127.0.0.1', '--port', String(port)],
    env: { ...env, MODEL_DIR: MODEL, RUNTIME: runtime },
  };
}

async function start(side) {
  const port = await freePort();
  const { run, env } = commandOf(side, port);
  const log = path.join(BUILD, `entities-${side}.log`);
  const stdio = ['ignore', fs.openSync(log, 'w'), fs.openSync(log, 'a')];
  const { child, stop } = startProcess(run, { env, stdio });
  for (let tries = 0; tries < 1200; tries++) {
    const tags = await tagsOf(port, 'A text.').catch(() => null);
    if (tags !== null) return { port, stop };
    if (child.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await stop();
  throw new Error(`${side} did not start, see ${log}`);
}

const body = (text) => ({ text, labels: LABELS, threshold: 0.6 });

async function tagsOf(port, text) {
  const headers = { 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${port}/tag`;
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body(text)) });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  const { tags } = await answer.json();
  return tags.map(({ label, start, end }) => `${label} ${start} ${end}`).join();
}

async function measure(side, texts) {
  const { port, stop } = await start(side);
  try {
    const found = {};
    for (const [tokens, all] of Object.entries(texts)) {
      const requests = all.map((text) => prepareRequest('/tag', JSON.stringify(body(text))));
      for (const clients of options.clients.split(',').map(Number)) {
        const seconds = Number(options.seconds);
        const { rps, p50_ms, bad } = await load({ port, requests, clients, seconds, warmup: 1 });
        if (bad > 0) throw new Error(`${side}: ${bad} requests failed`);
        found[`${tokens} tokens, ${clients} clients`] = { rps, p50_ms };
      }
    }
    return { found, tags: await tagsOf(port, Object.values(texts)[0][0]) };
  } finally {
    await stop();
  }
}

console.log(describeMachine());
const sizes = options.tokens.split(',');
const texts = Object.fromEntries(
  sizes.map((tokens, seed) => [
    tokens,
    makeTexts(Array(16).fill(WORDS[tokens]), seed + 1).map((json) => JSON.parse(json).text),
  ]),
);
const sides = options.sides.split(',');
const rounds = [];
for (let round = 0; round < Number(options.rounds); round++) {
  const answers = {};
  for (const side of sides) answers[side] = await measure(side, texts);
  rounds.push(answers);
}
const exact = sides.filter((side) => side !== 'int8').map((side) => rounds[0][side].tags);
if (new Set(exact).size > 1) throw new Error(`the entities differ: ${exact.join(' | ')}`);
const cells = Object.keys(rounds[0][sides[0]].found);
const medianOf = (side, cell, figure) =>
  median(rounds.map((answers) => answers[side].found[cell][figure]));
console.table(
  Object.fromEntries(
    cells.map((cell) => [
      cell,
      Object.fromEntries(
        sides.map((side) => {
          const rps = medianOf(side, cell, 'rps');
          const p50 = medianOf(side, cell, 'p50_ms');
          return [side, `${rps.toPrecision(3)}/s, p50 ${p50.toPrecision(3)} ms`];
        }),
      ),
    ]),
  ),
);
const peers = sides.filter((side) => side.startsWith('gliner'));
const best = (cell) => Math.max(...peers.map((side) => medianOf(side, cell, 'rps')));
for (const side of sides.filter((side) => !peers.includes(side))) {
  const ratios = cells.map(
    (cell) => `${cell}: ${(medianOf(side, cell, 'rps') / best(cell)).toFixed(2)}`,
  );
  console.log(`${side}, requests/s as a multiple of the fastest peer: ${ratios.join('; ')}`);
}
