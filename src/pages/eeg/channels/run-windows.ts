import { computed, effect, signal, untracked } from '@preact/signals';
import { EegClient } from '../../../client';
import { segmentWindowStarts } from '../../../recordings/recording';
import { isSameRate } from '../../../recordings/sampling-rate';
import { RUN_OPTIONS } from '../../shared/batch-run';
import { createClient } from '../../shared/client';
import { type Explanation, errorMessage, explainError } from '../../shared/errors';
import { modelRate, windowLength } from '../state';
import { type ClassifiedWindow, findWindow } from './classified-window';
import type { Selection } from './select-channels';
import { selection } from './selection';
import { placeOf, streamInputs } from './stream-samples';
import { cursor } from './view-state';

/** Windows per request. */
const BATCH_WINDOWS = 16;
/** Minimum interval between updates of the page, in ms. */
const SHOW_EVERY_MS = 150;

/** How the windows reach the model. */
export type Method = 'stream' | 'alone';

export interface Run {
  readonly method: Method;
  /** In order of time; grows while the run lasts. */
  readonly windows: readonly ClassifiedWindow[];
  /** Distance of the windows in seconds. */
  readonly step: number;
  /** Number of windows of the recording; an estimate for a stream. */
  readonly total: number;
  readonly interpolated: readonly string[];
}

export const method = signal<Method>('stream');
export const run = signal<Run | null>(null);
export const isRunning = signal(false);
export const runProblem = signal<Explanation | null>(null);

/** Window that begins last at or before the cursor and contains it; null if no such window is classified. */
export const windowAtCursor = computed(() => findWindow(run.value?.windows ?? [], cursor.value));

let controller = new AbortController();

export function cancelRun(): void {
  controller.abort();
}

/** Results are discarded when the recording or its selected channels change. */
export function clearRunOnNewSelection(): void {
  effect(() => {
    selection.value;
    untracked(() => {
      cancelRun();
      run.value = null;
      runProblem.value = null;
    });
  });
}

export async function classifyRecording(): Promise<void> {
  const [chosen, length] = [selection.value, windowLength.value];
  if (chosen === null || length === null || isRunning.value) return;
  controller = new AbortController();
  const { signal } = controller;
  isRunning.value = true;
  runProblem.value = null;
  const collect = method.value === 'stream' ? streamRecording : classifyAlone;
  try {
    await collect(chosen, length, signal);
  } catch (error) {
    if (!signal.aborted) runProblem.value = explainError(error);
  } finally {
    isRunning.value = false;
  }
}

/** Length of a window in samples of the recording. */
function rawLength({ rate }: Selection, length: number): number {
  const to = modelRate.value ?? rate;
  return isSameRate(rate, to) ? length : Math.ceil((length * rate) / to);
}

/** Sends the recording as a stream: filters of the model keep their state from window to window. */
async function streamRecording(
  chosen: Selection,
  length: number,
  signal: AbortSignal,
): Promise<void> {
  const raw = rawLength(chosen, length);
  let step = raw;
  let interpolated: readonly string[] = [];
  const place = placeOf(chosen);
  const shown = new Collector(chosen, (windows) => ({
    method: 'stream',
    windows,
    step: step / chosen.rate,
    total: segmentWindowStarts(toSegments(chosen), raw, step).length,
    interpolated,
  }));
  const results = createClient(EegClient).stream(streamInputs(chosen), {
    samplingRateHz: chosen.rate,
    channels: chosen.names,
    format: 'f32',
    signal,
    onOpen: (opened) => {
      step = opened.step;
      interpolated = opened.interpolated ?? [];
    },
  });
  try {
    for await (const result of results) {
      if (!('window' in result)) continue;
      const from = chosen.timeline.toSeconds(place(result.first_sample));
      shown.add({
        ...result,
        problems: result.quality.problems,
        from,
        to: from + raw / chosen.rate,
      });
    }
  } finally {
    shown.show();
  }
}

/** Sends each window as a signal of its own. */
async function classifyAlone(
  chosen: Selection,
  length: number,
  signal: AbortSignal,
): Promise<void> {
  const { channels, factors, names, rate, timeline } = chosen;
  const raw = rawLength(chosen, length);
  const starts = segmentWindowStarts(toSegments(chosen), raw);
  let interpolated: readonly string[] = [];
  const shown = new Collector(chosen, (windows) => ({
    method: 'alone',
    windows,
    step: raw / rate,
    total: starts.length,
    interpolated,
  }));
  const windows = function* (): Generator<Float64Array[]> {
    for (const start of starts) {
      yield channels.map(({ samples }, index) =>
        samples.slice(start, start + raw).map((value) => value * (factors[index] as number)),
      );
    }
  };
  const options = { ...RUN_OPTIONS, batchSize: BATCH_WINDOWS, signal };
  const outcomes = createClient(EegClient).predictChannelsAll(windows(), {
    ...options,
    channels: names,
    samplingRateHz: rate,
  });
  let index = 0;
  try {
    for await (const outcome of outcomes) {
      const from = timeline.toSeconds(starts[index++] as number);
      const place = { from, to: from + raw / rate, problems: [] };
      if (!outcome.ok) {
        const error = errorMessage(outcome.error);
        shown.add({ ...place, diagnosis: null, confidence: null, probabilities: null, error });
        continue;
      }
      interpolated = outcome.result.interpolated;
      shown.add({ ...place, ...outcome.result });
    }
  } finally {
    shown.show();
  }
}

/** Windows of a run, shown from time to time. */
class Collector {
  readonly #windows: ClassifiedWindow[] = [];
  readonly #chosen: Selection;
  readonly #toRun: (windows: readonly ClassifiedWindow[]) => Run;
  #shownAt = 0;

  constructor(chosen: Selection, toRun: (windows: readonly ClassifiedWindow[]) => Run) {
    this.#chosen = chosen;
    this.#toRun = toRun;
    this.show();
  }

  add(window: ClassifiedWindow): void {
    this.#windows.push(window);
    if (performance.now() - this.#shownAt >= SHOW_EVERY_MS) this.show();
  }

  /** Shows nothing if another recording has been opened. */
  show(): void {
    if (selection.peek() !== this.#chosen) return;
    this.#shownAt = performance.now();
    run.value = this.#toRun([...this.#windows]);
  }
}

function toSegments({ channels: [first], timeline: { segments } }: Selection) {
  return { samples: first?.samples ?? new Float64Array(0), segments };
}
