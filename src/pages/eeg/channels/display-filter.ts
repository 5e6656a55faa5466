import { computed, effect, signal } from '@preact/signals';
import type { StepSettings } from '../../../preprocessing/schema';
import type { Channel } from '../../../recordings/recording';
import { recording } from '../state';
import type { FilterInput } from './filter-channel';
import { filterSteps } from './filter-steps';
import type { FilterOutput } from './filter-worker';
import { assumedRate, isMultichannel } from './selection';

/** URL of the bundle of filter-worker.ts, relative to the page (scripts/build-pages.mjs). */
declare const FILTER_WORKER: string;

/** Settings as strings, because options of selections are strings; frequencies in Hz. */
export const highPass = signal('none');
export const lowPass = signal('none');
export const notch = signal('none');
export const filterPhase = signal<'zero' | 'causal'>('zero');

/** Filtered samples by channel; null while there is no filter, or before its result. */
export const filtered = signal<readonly Float32Array[] | null>(null);
/** Number of filtered channels; null while no filter runs. */
export const filterProgress = signal<number | null>(null);
/** Why the filter does not support the recording; null if it does. */
export const filterProblem = signal<string | null>(null);

const steps = computed(() =>
  filterSteps({
    highPass: hertz(highPass.value),
    lowPass: hertz(lowPass.value),
    notch: hertz(notch.value),
    phase: filterPhase.value,
  }),
);

export const isFiltered = computed(() => steps.value.length > 0);

/** Filters the recording again after each change of filter or recording. The samples for the server stay as recorded. */
export function filterOnChange(): void {
  effect(() => {
    const channels = recording.value?.channels ?? [];
    const [wanted, usual] = [steps.value, assumedRate.value];
    filtered.value = null;
    filterProblem.value = null;
    filterProgress.value = null;
    if (!isMultichannel.value || wanted.length === 0 || channels.length === 0) return;
    const worker = new Worker(FILTER_WORKER);
    filterAll(worker, channels, wanted, usual)
      .catch(reportError)
      .finally(() => worker.terminate());
    return () => worker.terminate();
  });
}

/** One channel at a time, which limits the memory for copies. Never ends if the worker is terminated. */
async function filterAll(
  worker: Worker,
  channels: readonly Channel[],
  wanted: readonly StepSettings[],
  usual: number,
): Promise<void> {
  const results: Float32Array[] = [];
  for (const { label, samples, segments, samplingRateHz } of channels) {
    filterProgress.value = results.length;
    const output = await filterIn(worker, {
      samples,
      firstSamples: segments.map(({ firstSample }) => firstSample),
      rate: samplingRateHz ?? usual,
      steps: wanted,
    });
    if ('problem' in output) {
      filterProblem.value = `${label}: ${output.problem}`;
      filterProgress.value = null;
      return;
    }
    results.push(output.samples);
  }
  filterProgress.value = null;
  filtered.value = results;
}

function filterIn(worker: Worker, input: FilterInput): Promise<FilterOutput> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<FilterOutput>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(`display filter: ${message}`));
    worker.postMessage(input);
  });
}

function hertz(value: string): number | null {
  return value === 'none' ? null : Number(value);
}
