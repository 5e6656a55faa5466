import type { Block, SignalFormat } from '../../preprocessing/block';
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
      prepare: (input) => {
        const samples = samplesOf(input);
        return zNormalize(samples, new Float32Array(samples.length));
      },
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
  readonly #windowLength: number;
  readonly #pipeline: Pipeline;
  readonly #windowSteps: readonly WindowStep[];

  constructor(settings: ChannelSettings, windowLength: number, samplingRateHz: number) {
    const input = { channels: settings.inputs, samplingRateHz };
    this.inputLength = settings.inputs.length * windowLength;
    this.#windowLength = windowLength;
    this.#pipeline = new Pipeline(input, createSteps(settings.continuous, input));
    const { baseline, window } = settings;
    this.#windowSteps = [
      ...(baseline ? [subtractBaseline(baseline)] : []),
      ...window.map((step) => createWindowStep(step, this.#pipeline.output)),
    ];
  }

  prepare(input: SignalInput): Float32Array {
    const samples = input instanceof ChannelWindow ? input.samples.slice() : this.#process(input);
    const rows = this.#rowsOf(samples);
    for (const step of this.#windowSteps) step(samples, rows);
    return new Float32Array(samples);
  }

  #process(input: ArrayLike<number>): Float64Array {
    return toRows(this.#pipeline.process(this.#rowsOf(new Float64Array(input))));
  }

  /** Views of the rows. */
  #rowsOf(samples: Float64Array): Block {
    const length = this.#windowLength;
    return Array.from({ length: samples.length / length }, (_, row) =>
      samples.subarray(row * length, (row + 1) * length),
    );
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

/** Changes a window in place. @param rows views of the channels in `samples` */
type WindowStep = (samples: Float64Array, rows: Block) => void;

function createWindowStep(step: WindowStepSettings, format: SignalFormat): WindowStep {
  if (step.type === 'standardize') {
    return step.per === 'window'
      ? zNormalizeInPlace
      : (_, rows) => {
          for (const row of rows) zNormalizeInPlace(row);
        };
  }
  const steps = createSteps([step], format);
  return (_, rows) => {
    for (const each of steps) each.push(rows);
  };
}

function zNormalizeInPlace(samples: Float64Array): void {
  // The samples are only read by index.
  zNormalize(samples as unknown as readonly number[], samples);
}

/** Subtracts the mean of the samples from `first` to `last` from each row. */
function subtractBaseline([first, last]: readonly [number, number]): WindowStep {
  return (_, rows) => {
    for (const row of rows) {
      let sum = 0;
      for (let i = first; i <= last; i++) sum += row[i] as number;
      const mean = sum / (last - first + 1);
      for (let i = 0; i < row.length; i++) row[i] = (row[i] as number) - mean;
    }
  };
}
