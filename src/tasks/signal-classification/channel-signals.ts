import { PreprocessingError } from '../../preprocessing/block';
import { planChannels } from './channel-plan';
import type { ModelSettings } from './model-settings';
import { ChannelWindow, toRows } from './window-preparation';

/** Finite samples of one window: by the name of the channel, or rows. */
export type ChannelSignals =
  | Readonly<Record<string, ArrayLike<number>>>
  | readonly ArrayLike<number>[];

/** What a caller says about samples. */
export interface ChannelOptions {
  /** Channels of rows; undefined: those of the model. */
  readonly channels?: readonly string[] | undefined;
  /** undefined: that of the model. */
  readonly samplingRateHz?: number | undefined;
}

/** A channel with another number of samples than a window. */
export class ChannelLengthError extends PreprocessingError {
  /** Place in the signals, such as `.Cz` or `[2]`. */
  readonly place: string;

  constructor(place: string, message: string) {
    super(message);
    this.place = place;
  }
}

/**
 * The window of a multi-channel model for the samples of one, after the steps over the signal.
 *
 * @throws PreprocessingError
 */
export function readChannelWindow(
  settings: ModelSettings,
  signals: ChannelSignals,
  { channels, samplingRateHz }: ChannelOptions,
): ChannelWindow {
  const isMatrix = Array.isArray(signals);
  const names = isMatrix ? (channels ?? settings.channels?.inputs ?? []) : Object.keys(signals);
  const rows: readonly ArrayLike<number>[] = isMatrix ? signals : Object.values(signals);
  if (rows.length !== names.length) {
    const message = `expected ${names.length} rows, one for each of ${names.join(', ')}; found ${rows.length}`;
    throw new PreprocessingError(message);
  }
  const plan = planChannels(settings, names, samplingRateHz ?? (settings.samplingRateHz as number));
  const block = rows.map((samples, index) => {
    if (samples.length === plan.windowLength) return Float64Array.from(samples);
    const place = isMatrix ? `[${index}]` : `.${names[index]}`;
    const message = `expected ${plan.windowLength} samples at ${plan.input.samplingRateHz} Hz, found ${samples.length}`;
    throw new ChannelLengthError(place, message);
  });
  const all = plan.createPipeline().process(block);
  const window = toRows(all.map((samples) => samples.subarray(0, settings.windowLength)));
  requireRange(window, settings);
  return new ChannelWindow(window, plan.interpolated);
}

/** Maximum magnitude of a float32, the type of the model input. */
const MAX_FLOAT32 = 3.4028234663852886e38;

/** @throws PreprocessingError: a value is not finite, or becomes infinite as input of the model */
function requireRange(window: Float64Array, { channels }: ModelSettings): void {
  const isStandardized = channels?.window.some(({ type }) => type === 'standardize');
  const most = isStandardized ? Number.MAX_VALUE : MAX_FLOAT32;
  if (window.every((value) => Math.abs(value) <= most)) return;
  throw new PreprocessingError(
    'a sample is too large: it is beyond the range of numbers after the preprocess of the model. Send another unit',
  );
}
