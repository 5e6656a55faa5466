import type { GapNotice, StreamOpened, WindowResult } from '../../streaming/stream-messages';
import type { CallOptions } from '../retry';

/**
 * Samples in any linear unit. Null and numbers that are not finite are missing samples. Of several channels: frames, or
 * the values of frames one after another.
 */
export type Samples = ArrayLike<number | null> | readonly ArrayLike<number | null>[];

/** Position of a sample: its number, seconds on any clock, or a date such as "2026-01-31T12:00:00.000Z". */
export type StreamPosition = number | string | { readonly seconds: number };

/** Element of a source of samples. */
export type StreamInput =
  | Samples
  /** `at` is the position of the first sample. */
  | { readonly samples: Samples; readonly at?: StreamPosition }
  /** Position of the next sample. Samples are missing if it is later than expected: times by more than 20 ms and 1.5 samples. */
  | { readonly at: StreamPosition }
  /** Number of missing samples. */
  | { readonly gap: number };

/** Result of a window, or a gap; in order. */
export type StreamResult = WindowResult | GapNotice;

/**
 * Options of a stream, see docs/reference/streaming-protocol.md. `timeoutMs` limits the time to open a connection and the time without a
 * message while a result is due. `retries` (20 by default) and `retryForMs` limit consecutive connections without a
 * result.
 */
export interface StreamOptions extends CallOptions {
  /** Sampling rate in Hz. The server resamples if the model's rate differs. */
  readonly samplingRateHz: number;
  /** Channels of a frame, in order. Models of several channels need it. */
  readonly channels?: readonly string[];
  /** Hop size from one window to the next, in samples of the source. Default: the window length. */
  readonly step?: number;
  /** Position of the first sample; results report times in the same format. Default: 0. */
  readonly start?: StreamPosition;
  /** `f32` sends four bytes per sample with seven significant digits, `json` all digits. Default: json. */
  readonly format?: 'json' | 'f32';
  /** Returned in the first response; the server never logs or stores it. */
  readonly patientId?: string | null;
  /** Median over an odd number of windows, or weight of the current window: `smoothed` in results. */
  readonly smoothing?: { readonly median: number } | { readonly exponential: number } | null;
  /** Maximum delay of inference for a window, in ms. Later windows are skipped; the next result reports how many. */
  readonly deadlineMs?: number | null;
  /** Number of the first window. Default: 0. */
  readonly firstWindow?: number;
  /** Called when the stream is opened, and when it is resumed after a broken connection. */
  readonly onOpen?: (opened: StreamOpened) => void;
}

/** First message of a stream without `start` and `first_window`, which differ when the stream is opened again. */
export function toStreamOptions(options: StreamOptions): object {
  const { samplingRateHz, channels, step, format, patientId, smoothing, deadlineMs } = options;
  return {
    sampling_rate_hz: samplingRateHz,
    ...(channels !== undefined && { channels }),
    ...(step !== undefined && { step }),
    ...(format !== undefined && { format }),
    ...(patientId !== undefined && { patient_id: patientId }),
    ...(smoothing !== undefined && { smoothing }),
    ...(deadlineMs !== undefined && { deadline_ms: deadlineMs }),
  };
}
