import type { ModelSettings } from '../tasks/signal-classification/model-settings';
import type { Opening } from './messages';
import type { Cut } from './sliding-windows';

/** Of the rates of samples and model: the filter is as long as they are apart. */
const MOST_RATIO = 512;

/** How samples are cut into windows. */
export function cutOf(opening: Opening, { windowLength, samplingRateHz }: ModelSettings): Cut {
  const rate = opening.sampling_rate_hz;
  const perModelSample = samplingRateHz === null ? 1 : rate / samplingRateHz;
  const step = opening.step ?? Math.max(1, Math.round(windowLength * perModelSample));
  return { windowLength, samplingRate: rate, modelRate: samplingRateHz, step };
}

/** What of it does not go together with the model; null: nothing. */
export function openingProblem(given: Opening, settings: ModelSettings): string | null {
  const { sampling_rate_hz: rate } = given;
  const { samplingRateHz } = settings;
  if (samplingRateHz === null) return null;
  const ratio = rate / samplingRateHz;
  if (ratio > MOST_RATIO || ratio < 1 / MOST_RATIO) {
    const range = `from ${samplingRateHz / MOST_RATIO} to ${samplingRateHz * MOST_RATIO}`;
    return `sampling_rate_hz: expected a rate ${range}`;
  }
  if (cutOf(given, settings).step >= ratio) return null;
  return `step: expected at least ${Math.ceil(ratio)} samples: at ${rate} Hz the model has fewer`;
}
