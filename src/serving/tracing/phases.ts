import type { Inference } from '../../native/engine';

/** A part of a request's time, in ms on the clock of `performance.now()`. */
export interface Phase {
  readonly name: 'tokenization' | 'queue' | 'inference';
  readonly start: number;
  readonly end: number;
}

/**
 * Where the time of inferences went that were submitted together; of a list, from the first of its
 * elements to the last. The engine says how long each part took. Tokenization comes before the wait
 * for the model here; a text that had to wait for its tokenization, too, has that wait after it.
 *
 * @param submittedAt on the clock of `performance.now()`
 */
export function phasesOf(submittedAt: number, inferences: readonly Inference[]): readonly Phase[] {
  if (inferences.length === 0) return [];
  const tokenized: number[] = [];
  const started: number[] = [];
  const ended: number[] = [];
  for (const { tokenizationMs, queueMs, inferenceMs } of inferences) {
    tokenized.push(submittedAt + tokenizationMs);
    started.push(submittedAt + tokenizationMs + queueMs);
    ended.push(submittedAt + tokenizationMs + queueMs + inferenceMs);
  }
  const queue: Phase = { name: 'queue', start: least(tokenized), end: most(started) };
  const inference: Phase = { name: 'inference', start: least(started), end: most(ended) };
  if (most(tokenized) === submittedAt) return [queue, inference]; // a model without a tokenizer
  return [{ name: 'tokenization', start: submittedAt, end: most(tokenized) }, queue, inference];
}

function least(values: readonly number[]): number {
  return values.reduce((least, next) => Math.min(least, next));
}

function most(values: readonly number[]): number {
  return values.reduce((most, next) => Math.max(most, next));
}
