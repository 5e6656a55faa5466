import { type Block, PreprocessingError } from '../preprocessing/block';
import { ServiceError } from '../serving/errors';
import {
  type ChannelPlan,
  planChannels,
  toChannelWindow,
} from '../tasks/signal-classification/channel-plan';
import type { ModelSettings } from '../tasks/signal-classification/model-settings';
import type { ChannelWindow } from '../tasks/signal-classification/window-preparation';

/** Finite samples of one window: by the name of the channel, or rows. */
export type SignalsOfChannels =
  | Readonly<Record<string, readonly number[]>>
  | readonly (readonly number[])[];

/** What a request says about its samples. */
interface Given {
  /** Channels of rows; undefined: those of the model. */
  readonly channels?: readonly string[] | undefined;
  /** undefined: that of the model. */
  readonly samplingRateHz?: number | undefined;
}

/**
 * The window of a multi-channel model for the samples of a request, after the steps over the signal.
 *
 * @param field name of the samples in the request, for errors
 * @throws ServiceError BODY_INVALID: a channel is missing; INPUT_LENGTH
 */
export function channelWindow(
  settings: ModelSettings,
  signals: SignalsOfChannels,
  { channels, samplingRateHz }: Given,
  field: string,
): { readonly window: ChannelWindow; readonly interpolated: readonly string[] } {
  const isMatrix = Array.isArray(signals);
  const names = isMatrix ? (channels ?? settings.channels?.inputs ?? []) : Object.keys(signals);
  const rows: readonly (readonly number[])[] = isMatrix ? signals : Object.values(signals);
  if (rows.length !== names.length) {
    const message = `${field}: expected ${names.length} rows, one for each of ${names.join(', ')}; found ${rows.length}`;
    throw new ServiceError('BODY_INVALID', message);
  }
  const rate = samplingRateHz ?? (settings.samplingRateHz as number);
  try {
    const plan = planChannels(settings, names, rate);
    const block = toBlock(rows, plan, (index) =>
      isMatrix ? `${field}[${index}]` : `${field}.${names[index]}`,
    );
    const window = toChannelWindow(plan, block, settings.windowLength);
    return { window, interpolated: plan.interpolated };
  } catch (error) {
    if (!(error instanceof PreprocessingError)) throw error;
    throw new ServiceError('BODY_INVALID', `${field}: ${error.message}`);
  }
}

/** @throws ServiceError INPUT_LENGTH that names the row */
function toBlock(
  rows: readonly (readonly number[])[],
  { windowLength, samplingRateHz }: ChannelPlan,
  fieldOf: (index: number) => string,
): Block {
  return rows.map((samples, index) => {
    if (samples.length === windowLength) return Float64Array.from(samples);
    const message = `${fieldOf(index)}: expected ${windowLength} samples at ${samplingRateHz} Hz, found ${samples.length}`;
    throw new ServiceError('INPUT_LENGTH', message);
  });
}
