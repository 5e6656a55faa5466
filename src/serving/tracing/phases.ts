import type { Inference } from '../../native/engine';

/** A phase of a request, in ms on the clock of `performance.now()`. */
export interface Phase {
  readonly name: 'tokenization' | 'queue' | 'inference';
  readonly start: number;
  readonly end: number;
}

/**
 * Phases of inferences that were submitted together; for a list, from the first element to the last. The engine reports
 * durations, so tokenization is placed before the queue wait, even if a text waited for its tokenization.
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
  const queue: Phase = { name: 'queue', start: min(tokenized), end: max(started) };
  const inference: Phase = { name: 'inference', start: min(started), end: max(ended) };
  if (max(tokenized) === submittedAt) return [queue, inference]; // a model without a tokenizer
  return [{ name: 'tokenization', start: submittedAt, end: max(tokenized) }, queue, inference];
}

// Not Math.min(...values): a list may have more elements than a call may have arguments.

function min(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value));
}

function max(values: readonly number[]): number {
  return values.reduce((greatest, value) => Math.max(greatest, value));
}
