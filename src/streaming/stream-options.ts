import { PreprocessingError } from '../preprocessing/block';
import type { ModelSettings } from '../tasks/signal-classification/model-settings';
import { planStream } from './channel-windows';
import { windowingOf } from './sliding-windows';
import type { StreamOptions } from './stream-messages';

/** Maximum ratio of the signal's and the model's sampling rates, which bounds the length of the filter. */
const MAX_RATIO = 512;

/** Validates the options against the model. @returns error message; null if valid */
export function findOptionsProblem(options: StreamOptions, settings: ModelSettings): string | null {
  return findRateProblem(options, settings) ?? findChannelsProblem(options, settings);
}

function findChannelsProblem(options: StreamOptions, settings: ModelSettings): string | null {
  if (settings.channels === null) {
    return options.channels ? 'channels: the model takes one channel, without a name' : null;
  }
  try {
    planStream(options, settings);
    return null;
  } catch (error) {
    if (!(error instanceof PreprocessingError)) throw error;
    return `channels: ${error.message}`;
  }
}

function findRateProblem(options: StreamOptions, settings: ModelSettings): string | null {
  const { sampling_rate_hz: rate } = options;
  const { samplingRateHz } = settings;
  if (samplingRateHz === null) return null;
  const ratio = rate / samplingRateHz;
  if (ratio > MAX_RATIO || ratio < 1 / MAX_RATIO) {
    const range = `from ${samplingRateHz / MAX_RATIO} to ${samplingRateHz * MAX_RATIO}`;
    return `sampling_rate_hz: expected a rate ${range}`;
  }
  if (windowingOf(options, settings).step >= ratio) return null;
  return `step: expected at least ${Math.ceil(ratio)} samples, one sample at the model's sampling rate`;
}
