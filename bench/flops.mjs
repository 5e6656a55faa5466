/**
 * The ceiling: how fast this machine multiplies matrices, and how much of that a text needs.
 * The formula is explained in README.md.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { BENCH, MODELS } from './paths.mjs';

const MODEL = path.join(MODELS, 'sentiment');
const CONFIG = JSON.parse(fs.readFileSync(path.join(MODEL, 'config.json'), 'utf8'));

/**
 * The floating-point operations that a BERT classifier needs for a text of that many tokens: its
 * matrix products, and in the last layer only what the first token needs.
 */
export function usefulFlops(tokens, config = CONFIG) {
  const {
    hidden_size: hidden,
    intermediate_size: intermediate,
    num_hidden_layers: layers,
  } = config;
  const labels = Object.keys(config.id2label).length;
  // A linear layer costs 2 × parameters for each token.
  const square = 2 * hidden * hidden;
  const feedForward = 2 * 2 * hidden * intermediate;
  // Queries with keys, and probabilities with values: for each query over all tokens.
  const attention = 2 * 2 * hidden * tokens;
  const layer = tokens * (4 * square + feedForward + attention);
  const lastLayer = tokens * 2 * square + (2 * square + feedForward + attention);
  return (layers - 1) * layer + lastLayer + square + 2 * hidden * labels;
}

/** The useful FLOPs of each body, tokens counted by transformers. */
export function usefulFlopsOf(bodies, python) {
  const texts = bodies.map((body) => JSON.parse(body).text);
  const args = [path.join(BENCH, 'count_tokens.py'), MODEL, CONFIG.max_position_embeddings];
  return runPython(python, args, JSON.stringify(texts)).map((tokens) => usefulFlops(tokens));
}

/** The packed float32 GEMM rate now: { processes, one_gflops, all_gflops }. */
export function measureGemm(python) {
  return runPython(python, [
    path.join(BENCH, 'gemm.py'),
    CONFIG.hidden_size,
    CONFIG.intermediate_size,
  ]);
}

function runPython(python, args, input = '') {
  const result = spawnSync(python, args.map(String), {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, HF_HUB_OFFLINE: '1' },
  });
  if (result.status !== 0) {
    throw new Error(`${args[0]} failed: ${result.error?.message ?? result.stderr}`);
  }
  return JSON.parse(result.stdout);
}
