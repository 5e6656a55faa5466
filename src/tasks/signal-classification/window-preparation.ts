import type { Block } from '../../preprocessing/block';
import { createSteps, Pipeline } from '../../preprocessing/pipeline';
import type { WindowStepSettings } from '../../preprocessing/schema';
import type { ChannelSettings } from './channel-settings';
import type { ModelSettings } from './model-settings';
import { zNormalize } from './z-normalize';

/** A window of all channels after the steps over the signal: [channels, window length], row by row. */
export class ChannelWindow {
  readonly samples: Float64Array;
  /** Channels that are computed from others. */
  readonly interpolated: readonly string[];

  constructor(samples: Float64Array, interpolated: readonly string[]) {
    this.samples = samples;
    this.interpolated = interpolated;
  }
}

/**
 * Input of a signal model: samples of a window, or a window after the steps over the signal. The samples of a
 * multi-channel window are [input channels, window length], row by row.
 */
export type SignalInput = ArrayLike<number> | ChannelWindow;

/** Prepares windows for a model. */
export interface WindowPreparation {
  /** Number of samples of an input. */
  readonly inputLength: number;
  prepare(input: SignalInput): Float32Array;
}

const preparations = new WeakMap<ModelSettings, WindowPreparation>();

/** Preparation of a model, created once. Another thread reads the settings, so that they contain data only. */
export function preparationOf(settings: ModelSettings): WindowPreparation {
  const known = preparations.get(settings) ?? createPreparation(settings);
  preparations.set(settings, known);
  return known;
}

function createPreparation(settings: ModelSettings): WindowPreparation {
  const { channels, windowLength, samplingRateHz } = settings;
  if (channels === null) {
    return {
      inputLength: windowLength,
      prepare: (input) => zNormalize(samplesOf(input), new Float32Array(windowLength)),
    };
  }
  return new ChannelPreparation(channels, windowLength, samplingRateHz as number);
}

function samplesOf(input: SignalInput): readonly number[] {
  // The samples are only read by index.
  return (input instanceof ChannelWindow ? input.samples : input) as readonly number[];
}

/** Steps over the signal, then steps over the window. */
class ChannelPreparation implements WindowPreparation {
  readonly inputLength: number;
  readonly #settings: ChannelSettings;
  readonly #windowLength: number;
  readonly #pipeline: Pipeline;

  constructor(settings: ChannelSettings, windowLength: number, samplingRateHz: number) {
    const input = { channels: settings.inputs, samplingRateHz };
    this.inputLength = settings.inputs.length * windowLength;
    this.#settings = settings;
    this.#windowLength = windowLength;
    this.#pipeline = new Pipeline(input, createSteps(settings.continuous, input));
  }

  prepare(input: SignalInput): Float32Array {
    const window = input instanceof ChannelWindow ? input.samples : this.#process(input);
    const { baseline, window: steps } = this.#settings;
    const samples = baseline ? withoutBaseline(window, baseline, this.#windowLength) : window;
    return applyWindowSteps(steps, samples, this.#windowLength);
  }

  #process(input: ArrayLike<number>): Float64Array {
    const length = this.#windowLength;
    const block = this.#settings.inputs.map((_, row) => {
      const samples = new Float64Array(length);
      for (let i = 0; i < length; i++) samples[i] = input[row * length + i] as number;
      return samples;
    });
    return toRows(this.#pipeline.process(block));
  }
}

/** Concatenates the channels of a window. */
export function toRows(block: Block): Float64Array {
  const [first] = block;
  const length = first?.length ?? 0;
  const rows = new Float64Array(block.length * length);
  for (const [channel, samples] of block.entries()) rows.set(samples, channel * length);
  return rows;
}

/** @param window [channels, windowLength], row by row; not changed */
function applyWindowSteps(
  steps: readonly WindowStepSettings[],
  window: Float64Array,
  windowLength: number,
): Float32Array {
  let samples: Float64Array = window;
  for (const step of steps) {
    if (step.type === 'standardize')
      samples = standardized(samples, step.per === 'window' ? samples.length : windowLength);
    else if (step.type === 'scale') samples = samples.map((value) => value * step.factor);
    else {
      const { min, max } = step;
      samples = samples.map((value) =>
        Math.min(Math.max(value, min ?? -Infinity), max ?? Infinity),
      );
    }
  }
  return new Float32Array(samples);
}

/** Subtracts the mean of the samples from `first` to `last` from each row. */
function withoutBaseline(
  window: Float64Array,
  [first, last]: readonly [number, number],
  windowLength: number,
): Float64Array {
  const result = new Float64Array(window.length);
  for (let row = 0; row < window.length; row += windowLength) {
    let sum = 0;
    for (let i = first; i <= last; i++) sum += window[row + i] as number;
    const mean = sum / (last - first + 1);
    for (let i = row; i < row + windowLength; i++) result[i] = (window[i] as number) - mean;
  }
  return result;
}

/** z-normalizes rows of `length` samples. */
function standardized(samples: Float64Array, length: number): Float64Array {
  const result = new Float64Array(samples.length);
  for (let at = 0; at < samples.length; at += length) {
    const row = samples.subarray(at, at + length) as unknown as readonly number[];
    zNormalize(row, result.subarray(at, at + length));
  }
  return result;
}
