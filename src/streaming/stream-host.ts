import type { SignalClassifier } from '../tasks/capabilities';
import type { ModelSettings } from '../tasks/signal-classification/model-settings';
import type { TimeSlices } from './time-slices';
import type { WindowQueue } from './window-queue';
import type { WindowCounter } from './window-results';

/** Model of a stream. */
export interface StreamModel {
  readonly name: string;
  readonly model: SignalClassifier;
  readonly settings: ModelSettings;
  /** Queue of windows, shared by all streams of the model. */
  readonly queue: WindowQueue;
}

/** Receives the events of one stream. */
export interface StreamHost {
  readonly counter: WindowCounter;
  readonly requestTimeoutMs: number;
  readonly timeSlices: TimeSlices;
  /** Counts memory of inputs, windows in inference and results. @param bytes negative if released */
  addBytes(bytes: number): void;
  /** The client does not read its results. The host calls `proceed` after the client has read them. */
  onBlocked(): void;
  /** All results were sent after the end of the signal. */
  onEnd(): void;
  /** The model is being unloaded. */
  onModelUnload(): void;
  /** A sample position is invalid; the message names the field. */
  onInvalidInput(message: string): void;
  /** An unexpected error ends the stream. Does not throw. */
  onError(error: unknown): void;
}
