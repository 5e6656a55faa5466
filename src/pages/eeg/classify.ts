import { effect, signal, untracked } from '@preact/signals';
import { EegClient, type Outcome, type PredictBatchResponse } from '../../client';
import { windowStarts } from '../../recordings/recording';
import { collectOutcomes, RUN_OPTIONS } from '../shared/batch-run';
import { createClient, type Timings, timeRequest } from '../shared/client';
import { type Explanation, explainError } from '../shared/errors';
import { isReady } from '../shared/info';
import { samples, windowLength, windowSamples } from './state';

/** One element of the answer of `POST /predict/batch`. */
export type Prediction = PredictBatchResponse['results'][number];

/** A window that is being moved is asked about when it rests. */
const REST_MS = 120;
/** Windows in one request: few enough that the progress moves and others get their turn. */
const BATCH_WINDOWS = 48;

/** What the model says of the window; null: nothing yet. */
export const answer = signal<{ readonly prediction: Prediction; readonly timings: Timings } | null>(
  null,
);
export const isPending = signal(false);
export const problem = signal<Explanation | null>(null);
/** Goes up to ask again after an error. */
const tries = signal(0);

export function askAgain(): void {
  tries.value++;
}

/** Asks the model about the window, each time that it comes to rest somewhere else. */
export function classifyTheWindow(): void {
  effect(() => {
    tries.value;
    const window = windowSamples.value;
    problem.value = null;
    if (window === null || !isReady.value) {
      answer.value = null;
      isPending.value = false;
      return;
    }
    isPending.value = true;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      ask(window, controller.signal).catch(reportError);
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  });
}

async function ask(window: Float64Array, signal: AbortSignal): Promise<void> {
  try {
    const { body, timings } = await timeRequest(EegClient, (client) =>
      client.predictBatch([window], { signal }),
    );
    const [prediction] = body;
    answer.value = prediction ? { prediction, timings } : null;
  } catch (error) {
    if (signal.aborted) return;
    answer.value = null;
    problem.value = explainError(error);
  }
  if (!signal.aborted) isPending.value = false;
}

export interface Run {
  /** First sample of each window. */
  readonly starts: readonly number[];
  readonly outcomes: readonly Outcome<Float64Array, Prediction>[];
}

/** All windows of the recording, and what came of those that are done. */
export const run = signal<Run | null>(null);
export const isRunning = signal(false);
export const runProblem = signal<Explanation | null>(null);

let controller = new AbortController();

export function cancelRun(): void {
  controller.abort();
}

/** What was said of other samples is not kept. */
export function forgetRunsOfOtherSamples(): void {
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
  const starts = windowStarts(all.length, length);
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
