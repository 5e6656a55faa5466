import { PreprocessingError } from '../preprocessing/block';
import { ServiceError } from '../serving/errors';
import {
  ChannelLengthError,
  type ChannelOptions,
  type ChannelSignals,
  readChannelWindow,
} from '../tasks/signal-classification/channel-signals';
import type { ModelSettings } from '../tasks/signal-classification/model-settings';
import type { ChannelWindow } from '../tasks/signal-classification/window-preparation';

/**
 * The window of a multi-channel model for the samples of a request.
 *
 * @param field name of the samples in the request, for errors
 * @throws ServiceError BODY_INVALID: a channel is missing; INPUT_LENGTH
 */
export function channelWindow(
  settings: ModelSettings,
  signals: ChannelSignals,
  options: ChannelOptions,
  field: string,
): ChannelWindow {
  try {
    return readChannelWindow(settings, signals, options);
  } catch (error) {
    if (error instanceof ChannelLengthError) {
      throw new ServiceError('INPUT_LENGTH', `${field}${error.place}: ${error.message}`);
    }
    if (!(error instanceof PreprocessingError)) throw error;
    throw new ServiceError('BODY_INVALID', `${field}: ${error.message}`);
  }
}
