/**
 * Five questions over texts of 200 and 800 tokens, beside laya with FastAPI, over HTTP, in one run.
 *
 *   node bench/decisions.mjs [--tokens 200,800] [--clients 1,8] [--sides …] [--seconds 4] [--rounds 1]
 *
 * Needs a built service (npm run build). The model has the shape of the English Laya (ModernBERT-large) and random
 * weights.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeTexts, wordsOf } from './bodies.mjs';
import { BENCH, BUILD, MODELS, ROOT } from './paths.mjs';
import { compareServed } from './served.mjs';
import { installPackages, once, run, setUp } from './setup.mjs';

const QUESTIONS = {
  refund: { type: 'noul', instructions: 'Does the customer want a refund?' },
  angry: { type: 'noul', instructions: 'Is the customer angry?' },
  topic: {
    type: 'choice',
    instructions: 'What is the message about?',
    criteria: { billing: null, delivery: null, product: null, account: null },
  },
  urgency: {
    type: 'score',
    instructions: 'How urgent is it?',
    criteria: ['low', 'medium', 'high'],
  },
  team: {
    type: 'choice',
    instructions: 'Which team answers?',
    criteria: { support: 'questions of use', sales: 'prices and orders' },
  },
};
const HERE = path.join(BENCH, 'decisions');
const MODEL = path.join(BUILD, 'shapes/laya-large');

const { values: options } = parseArgs({
  options: {
    tokens: { type: 'string', default: '200,800' },
    clients: { type: 'string', default: '1,8' },
    sides: { type: 'string', default: 'float32,int8,laya' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '1' },
  },
});

const python = setUp({ nodeOrt: false, sentiment: false });
const packages = installPackages(python, 'laya', path.join(HERE, 'requirements.txt'));
const env = { ...process.env, HF_HUB_OFFLINE: '1', PYTHONPATH: packages };
const maker = path.join(HERE, 'random_laya.py');
once(MODEL, [maker], 'random weights of the shape of Laya', () =>
  run(python, [maker, path.join(MODELS, 'sentiment'), MODEL], { env }),
);

function commandOf(side, port) {
  if (side !== 'laya') {
    return {
      run: [process.execPath, path.join(ROOT, 'dist/main.js'), 'serve', MODEL],
      env: {
        ...process.env,
        PORT: String(port),
        DTYPE: side,
        MAX_QUEUE_WAIT_MS: '600000',
        REQUEST_TIMEOUT_MS: '600000',
        INFERENCE_TIMEOUT_MS: '600000',
      },
    };
  }
  const uvicorn = ['-m', 'uvicorn', '--app-dir', HERE, 'server:app', '--no-access-log'];
  return {
    run: [python, ...uvicorn, '--host', '127.0.0.1', '--port', String(port)],
    env: { ...env, MODEL_DIR: MODEL },
  };
}

const bodies = Object.fromEntries(
  options.tokens.split(',').map((tokens, seed) => [
    `${tokens} tokens`,
    makeTexts(Array(16).fill(wordsOf(Number(tokens))), seed + 1).map((json) => ({
      model: 'laya-large',
      state: JSON.parse(json).text,
      questions: QUESTIONS,
    })),
  ]),
);
await compareServed({
  sides: options.sides.split(','),
  commandOf,
  route: '/v1/systemone',
  bodies,
  clients: options.clients.split(',').map(Number),
  seconds: Number(options.seconds),
  rounds: Number(options.rounds),
  describe: ({ answers }) =>
    [answers.refund.noul, ...Object.values(answers.topic.probabilities)]
      .map((p) => p.toFixed(3))
      .join(),
  isExact: (side) => side === 'float32' || side === 'laya',
  isPeer: (side) => side === 'laya',
});
