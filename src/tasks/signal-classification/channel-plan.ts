import { PreprocessingError, type SignalFormat, type SignalStep } from '../../preprocessing/block';
import { ChannelMixture, type ChannelRow } from '../../preprocessing/channel-steps';
import { createSteps, Pipeline } from '../../preprocessing/pipeline';
import { type Position, splineWeights } from '../../preprocessing/spherical-splines';
import { findChannel } from '../../recordings/recording';
import { isSameRate } from '../../recordings/sampling-rate';
import type { ChannelSettings } from './channel-settings';
import type { ModelSettings } from './model-settings';

/** Maximum number of cached plans per model. */
const MAX_PLANS = 8;
/** Minimum number of channels from which missing channels are interpolated. */
const MIN_SOURCES = 4;

/** How a signal with certain channels and a certain rate becomes input of a multi-channel model. */
export interface ChannelPlan {
  /** Channels that are computed from others. */
  readonly interpolated: readonly string[];
  /** Number of samples per channel from which a window is computed. */
  readonly windowLength: number;
  /** Formats of the signal before and after the steps. */
  readonly input: SignalFormat;
  readonly output: SignalFormat;
  /** See `Pipeline`. */
  readonly state: number | null;
  readonly delaySamples: number;
  /** Creates the steps over the signal, without state. */
  createPipeline(): Pipeline;
}

/**
 * Plans the steps over a signal. Channels are found by name, also as "EEG T3-Ref" or by the newer name T7.
 *
 * @param names channels of the signal, in order
 * @param samplingRateHz of the signal
 * @throws PreprocessingError that names a missing channel, or a step that does not support the rate
 */
export function planChannels(
  settings: ModelSettings,
  names: readonly string[],
  samplingRateHz: number,
): ChannelPlan {
  const known = plans.get(settings) ?? new Map<string, ChannelPlan>();
  plans.set(settings, known);
  const key = JSON.stringify([samplingRateHz, names]);
  const plan = known.get(key) ?? createPlan(settings, names, samplingRateHz);
  known.delete(key);
  if (known.size >= MAX_PLANS) known.delete(known.keys().next().value as string);
  known.set(key, plan);
  return plan;
}

/** Plans of the last requests, by their channels and rate. */
const plans = new WeakMap<ModelSettings, Map<string, ChannelPlan>>();

function createPlan(
  settings: ModelSettings,
  names: readonly string[],
  samplingRateHz: number,
): ChannelPlan {
  const channels = settings.channels as ChannelSettings;
  const modelRate = settings.samplingRateHz as number;
  const rate = isSameRate(samplingRateHz, modelRate) ? modelRate : samplingRateHz;
  const { rows, interpolated } = mapChannels(channels, names);
  const input = { channels: names, samplingRateHz: rate };
  const mapped = { channels: channels.inputs, samplingRateHz: rate };
  const isIdentity = rows.length === names.length && rows.every((row, index) => row === index);
  const resamples = channels.continuous.some(({ type }) => type === 'resample');
  const steps = resamples
    ? channels.continuous
    : [{ type: 'resample', sampling_rate_hz: modelRate } as const, ...channels.continuous];
  const create = (): readonly SignalStep[] => [
    ...(isIdentity ? [] : [new ChannelMixture(mapped, rows)]),
    ...createSteps(steps, mapped),
  ];
  const { output, state, delaySamples } = new Pipeline(input, create());
  return {
    interpolated,
    input,
    output,
    state,
    delaySamples,
    windowLength: Math.ceil((settings.windowLength * rate) / modelRate),
    createPipeline: () => new Pipeline(input, create()),
  };
}

interface ChannelMap {
  /** The channels of the model before its steps, in order. */
  readonly rows: readonly ChannelRow[];
  readonly interpolated: readonly string[];
}

/** @throws PreprocessingError */
function mapChannels(
  { inputs, interpolates, positions }: ChannelSettings,
  names: readonly string[],
): ChannelMap {
  const labels = names.map((label) => ({ label }));
  const found = inputs.map((input) => findChannel(labels, input));
  const missing = inputs.filter((_, index) => found[index] === null);
  if (missing.length === 0) return { rows: found as number[], interpolated: [] };
  const all = missing.map((name) => `“${name}”`).join(', ');
  if (!interpolates) {
    const message = `missing ${missing.length === 1 ? 'channel' : 'channels'} ${all}. The signal has ${names.join(', ')}`;
    throw new PreprocessingError(message);
  }
  const sources = inputs.filter((_, index) => found[index] !== null);
  if (sources.length < MIN_SOURCES) {
    const message = `missing channels ${all}. They can be interpolated from at least ${MIN_SOURCES} channels of the model, found ${sources.length}`;
    throw new PreprocessingError(message);
  }
  const positionOf = (name: string) => positions.get(name) as Position;
  const weights = splineWeights(sources.map(positionOf), missing.map(positionOf));
  const indices = found.filter((index) => index !== null);
  const rows = inputs.map((input, index): ChannelRow => {
    const own = found[index];
    if (typeof own === 'number') return own;
    const row = weights[missing.indexOf(input)] as Float64Array;
    return indices.map((source, at) => [source, row[at] as number] as const);
  });
  return { rows, interpolated: missing };
}
