import type { GapNotice, StreamOpened, WindowResult } from '../../streaming/stream-messages';
import type { CallOptions } from '../retry';

/** Numbers in any linear unit; null, or what is not finite: there is none. */
export type Samples = ArrayLike<number | null>;

/** The number of a sample, seconds of any clock, or a time such as "2026-01-31T12:00:00.000Z". */
export type StreamPosition = number | string | { readonly seconds: number };

/** What a source of samples gives: samples, and where the next one is. */
export type StreamInput =
  | Samples
  /** `at`: of the first of them. */
  | { readonly samples: Samples; readonly at?: StreamPosition }
  /** Of the next sample. Later than expected: those between are missing; of times, by more than 20 ms or 1.5 samples. */
  | { readonly at: StreamPosition }
  /** So many samples are missing. */
  | { readonly gap: number };

/** What is answered: windows in their order, and gaps that the service saw between samples. */
export type StreamResult = WindowResult | GapNotice;

/**
 * What is said once of a stream, see docs/streaming.md, and how long to try again. `timeoutMs`: how long a connection
 * may take to open, and to say something where a window is due, before it is taken for broken. `retries` (20 by
 * default) and `retryForMs`: of connections in a row on which nothing came.
 */
export interface StreamOptions extends CallOptions {
  /** Of the samples; another one than the model's is resampled. */
  readonly samplingRateHz: number;
  /** From one window to the next, in samples as they are given. Default: a window. */
  readonly step?: number;
  /** Where the first sample is; answers say times alike. Default: 0, its number. */
  readonly start?: StreamPosition;
  /** `f32` sends four bytes for a sample, of which float32 keeps seven digits. Default: json, all digits. */
  readonly format?: 'json' | 'f32';
  /** Is told to the service once, which writes it nowhere. */
  readonly patientId?: string | null;
  /** Over an odd number of windows, or with this weight of the last one: `smoothed` in answers. */
  readonly smoothing?: { readonly median: number } | { readonly exponential: number } | null;
  /** How late the model may begin with a window; later ones are skipped, which the next answer says. */
  readonly deadlineMs?: number | null;
  /** The number of the first window. Default: 0. */
  readonly firstWindow?: number;
  /** Told each time that the service takes the stream up: at first, and after each broken connection. */
  readonly onOpen?: (opened: StreamOpened) => void;
}

/** The first message of a stream but for its place, which is another one when it is opened anew. */
export function openingOf(options: StreamOptions): object {
  const { samplingRateHz, step, format, patientId, smoothing, deadlineMs } = options;
  return {
    sampling_rate_hz: samplingRateHz,
    ...(step !== undefined && { step }),
    ...(format !== undefined && { format }),
    ...(patientId !== undefined && { patient_id: patientId }),
    ...(smoothing !== undefined && { smoothing }),
    ...(deadlineMs !== undefined && { deadline_ms: deadlineMs }),
  };
}
