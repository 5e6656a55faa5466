import type { SignalQualityAnalyzer } from '../tasks/signal-classification/signal-quality';
import type { SignalInput } from '../tasks/signal-classification/window-preparation';

/** Quality of a window. */
export type WindowQuality = Pick<
  Readonly<SignalQualityAnalyzer>,
  'problems' | 'peakToPeak' | 'mainsShare' | 'isUsable'
>;

/**
 * Divides a signal that arrives in pieces into the windows of a model: call `take` until `isComplete`, then `analyze`
 * and `window`, then `advance`.
 */
export interface StreamWindows {
  /** Number of values of a sample: one per channel. */
  readonly valuesPerSample: number;
  /** Window length in samples of the signal. */
  readonly rawLength: number;
  /** Look-ahead of the resampling filter behind a window, in ms. */
  readonly delayMs: number;
  /** Hz; null if samples are not resampled. */
  readonly resampledToHz: number | null;
  readonly isComplete: boolean;
  /** Input of the model for the complete window, valid until the next `take`. */
  readonly window: SignalInput;
  /** Start of the current window, in samples of the signal; can be fractional. */
  readonly position: number;
  /** Number of the sample at or before `position`. */
  readonly firstRaw: number;
  /** Whether received samples have to be resampled before `take` accepts more. */
  readonly needsResampling: boolean;
  /** Resamples received samples, for some milliseconds at most. */
  resample(): void;
  /** Takes values from `offset` on, for some milliseconds at most. @returns number of values taken */
  take(values: Float64Array, offset: number): number;
  /** Analyzes the samples of the complete window before all steps. */
  analyze(analyzer: SignalQualityAnalyzer): WindowQuality;
  /** Moves on to the next window. */
  advance(): void;
  /** Ends the signal. Can be called several times. */
  end(): void;
  /** Begins a new signal. No window spans both signals. */
  restart(): void;
}

/** Options of a stream that determine its windows. */
export interface WindowOptions {
  readonly sampling_rate_hz: number;
  readonly step?: number | undefined;
  readonly channels?: readonly string[] | undefined;
}
