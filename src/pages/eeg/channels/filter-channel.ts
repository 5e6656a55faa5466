import { createSteps, Pipeline } from '../../../preprocessing/pipeline';
import type { StepSettings } from '../../../preprocessing/schema';

/** A channel to filter. */
export interface FilterInput {
  readonly samples: Float64Array;
  /** First samples of the parts between gaps, in order; the first is 0. */
  readonly firstSamples: readonly number[];
  /** Sampling rate in Hz. */
  readonly rate: number;
  readonly steps: readonly StepSettings[];
}

/**
 * Filters each part between gaps as a signal of its own. A missing sample is replaced by the previous one for the
 * filter, and is missing in the result. Float32 suffices for a drawing.
 *
 * @throws PreprocessingError: a step does not support the rate or a part is too short
 */
export function filterChannel({ samples, firstSamples, rate, steps }: FilterInput): Float32Array {
  const input = { channels: ['signal'], samplingRateHz: rate };
  const result = new Float32Array(samples.length);
  for (const [index, first] of firstSamples.entries()) {
    const part = samples.slice(first, firstSamples[index + 1] ?? samples.length);
    const missing = fillMissing(part);
    const [output] = new Pipeline(input, createSteps(steps, input)).process([part]);
    result.set(output as Float64Array, first);
    for (const at of missing) result[first + at] = Number.NaN;
  }
  return result;
}

/** Replaces missing samples in place. @returns their indices */
function fillMissing(samples: Float64Array): readonly number[] {
  const missing: number[] = [];
  let last = samples.find(Number.isFinite) ?? 0;
  for (let i = 0; i < samples.length; i++) {
    const value = samples[i] as number;
    if (Number.isFinite(value)) {
      last = value;
    } else {
      missing.push(i);
      samples[i] = last;
    }
  }
  return missing;
}
