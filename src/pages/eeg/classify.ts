import { effect, signal, untracked } from '@preact/signals';
import { EegClient, type Outcome, type PredictBatchResponse } from '../../client';
import { collectOutcomes, RUN_OPTIONS } from '../shared/batch-run';
import { createClient, type Timings, timeRequest } from '../shared/client';
import { type Explanation, explainError } from '../shared/errors';
import { isReady } from '../shared/info';
import { isMultichannel } from './channels/selection';
import { adjacentStarts, samples, windowLength, windowSamples } from './state';

/** Element of the response of `POST /predict/batch`. */
export type Prediction = PredictBatchResponse['results'][number];

/** Delay between the last move of the window and the request, in ms. */
const REST_MS = 120;
/** Number of windows per request: a small batch updates the progress often. */
const BATCH_WINDOWS = 48;

/** Prediction for the window; null before the first response. */
export const response = signal<{
  readonly prediction: Prediction;
  readonly timings: Timings;
} | null>(null);
export const isPending = signal(false);
export const problem = signal<Explanation | null>(null);
/** Incremented to retry after an error. */
const tries = signal(0);

export function retry(): void {
  tries.value++;
}

/** Classifies the window after each move. */
export function classifyOnMove(): void {
  effect(() => {
    tries.value;
    const window = windowSamples.value;
    problem.value = null;
    if (window === null || !isReady.value || isMultichannel.value) {
      response.value = null;
      isPending.value = false;
      return;
    }
    isPending.value = true;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      classifyWindow(window, controller.signal).catch(reportError);
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  });
}

async function classifyWindow(window: Float64Array, signal: AbortSignal): Promise<void> {
  try {
    const { body, timings } = await timeRequest(EegClient, (client) =>
      client.predictBatch([window], { signal }),
    );
    const [prediction] = body;
    response.value = prediction ? { prediction, timings } : null;
  } catch (error) {
    if (signal.aborted) return;
    response.value = null;
    problem.value = explainError(error);
  }
  if (!signal.aborted) isPending.value = false;
}

export interface Run {
  /** First sample of each window. */
  readonly starts: readonly number[];
  readonly outcomes: readonly Outcome<Float64Array, Prediction>[];
}

/** Classification of all windows: progress and results. */
export const run = signal<Run | null>(null);
export const isRunning = signal(false);
export const runProblem = signal<Explanation | null>(null);

let controller = new AbortController();

export function cancelRun(): void {
  controller.abort();
}

/** Results are discarded when the samples change. */
export function clearRunOnNewSamples(): void {
  effect(() => {
    samples.value;
    untracked(() => {
      cancelRun();
      run.value = null;
      runProblem.value = null;
    });
  });
}

export async function classifyAll(): Promise<void> {
  const [all, length] = [samples.value, windowLength.value];
  if (all === null || length === null || isRunning.value) return;
  controller = new AbortController();
  const { signal } = controller;
  const starts = adjacentStarts.value;
  run.value = { starts, outcomes: [] };
  isRunning.value = true;
  runProblem.value = null;
  try {
    const windows = starts.map((start) => all.subarray(start, start + length));
    const options = { ...RUN_OPTIONS, batchSize: BATCH_WINDOWS, signal };
    await collectOutcomes(createClient(EegClient).predictAll(windows, options), (outcomes) => {
      if (run.value?.starts === starts) run.value = { starts, outcomes };
    });
  } catch (error) {
    if (!signal.aborted) runProblem.value = explainError(error);
  } finally {
    isRunning.value = false;
  }
}
