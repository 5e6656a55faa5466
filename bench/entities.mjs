/**
 * Entities of 6 labels over texts of 128 and 512 tokens, prompt included, beside gliner with FastAPI (PyTorch and
 * onnxruntime), over HTTP, in one run.
 *
 *   node bench/entities.mjs [--tokens 128,512] [--clients 1,8,64] [--sides …] [--seconds 4] [--rounds 1]
 *
 * Needs a built service (npm run build). The model has the shape of gliner_small-v2.1 and random weights.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeTexts } from './bodies.mjs';
import { BENCH, BUILD, MODELS, ROOT } from './paths.mjs';
import { compareServed } from './served.mjs';
import { installPackages, once, run, setUp } from './setup.mjs';

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
// gliner asks for an older transformers than the peers have, and runs with it.
const packages = installPackages(python, 'gliner', path.join(HERE, 'requirements.txt'));
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

const sizes = options.tokens.split(',');
const bodies = Object.fromEntries(
  sizes.map((tokens, seed) => [
    `${tokens} tokens`,
    makeTexts(Array(16).fill(WORDS[tokens]), seed + 1).map((json) => ({
      text: JSON.parse(json).text,
      labels: LABELS,
      threshold: 0.6,
    })),
  ]),
);
await compareServed({
  sides: options.sides.split(','),
  commandOf,
  route: '/tag',
  bodies,
  clients: options.clients.split(',').map(Number),
  seconds: Number(options.seconds),
  rounds: Number(options.rounds),
  describe: ({ tags }) => tags.map(({ label, start, end }) => `${label} ${start} ${end}`).join(),
  isExact: (side) => side !== 'int8',
  isPeer: (side) => side.startsWith('gliner'),
});
