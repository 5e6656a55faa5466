import type { ModelSettings } from '../tasks/signal-classification/model-settings';
import { ChannelWindows } from './channel-windows';
import { SlidingWindows, windowingOf } from './sliding-windows';
import type { StreamWindows, WindowOptions } from './stream-windows';

export function createWindows(options: WindowOptions, settings: ModelSettings): StreamWindows {
  return settings.channels === null
    ? new SlidingWindows(windowingOf(options, settings))
    : new ChannelWindows(options, settings);
}

/** Size of the buffers of a stream's windows in bytes. */
export function windowBytes(options: WindowOptions, settings: ModelSettings): number {
  return settings.channels === null
    ? SlidingWindows.bytesOf(windowingOf(options, settings))
    : ChannelWindows.bytesOf(options, settings);
}
