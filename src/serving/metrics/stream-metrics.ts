import { byLabel, counter, type Family, gauge, zeros } from './family';
import { DURATION_BOUNDS, Histogram, histogram } from './histogram';

/**
 * Reasons why a stream ended: the client ended it; a message was invalid; the client did not read the results in time;
 * shutdown or model reload; the connection broke and the client did not reconnect.
 */
const ENDS = ['ended', 'error', 'timeout', 'leaving', 'broken'] as const;
export type StreamEnd = (typeof ENDS)[number];

/** Outcomes of the windows of streams. */
const OUTCOMES = ['completed', 'unusable', 'skipped', 'failed'] as const;
export type WindowOutcome = (typeof OUTCOMES)[number];

/** Counts streams and their windows. */
export class StreamMetrics {
  /** Number of open streams, including streams that wait for a reconnect. */
  open: () => number = () => 0;
  opened = 0;
  resumed = 0;
  readonly #ends = zeros(ENDS);
  readonly #windows = zeros(OUTCOMES);
  readonly #duration = new Histogram(DURATION_BOUNDS);

  ended(end: StreamEnd): void {
    this.#ends[end]++;
  }

  completed(milliseconds: number): void {
    this.#windows.completed++;
    this.#duration.observe(milliseconds / 1000);
  }

  count(outcome: Exclude<WindowOutcome, 'completed'>): void {
    this.#windows[outcome]++;
  }

  families(): readonly Family[] {
    return [
      gauge('libtorch_serve_streams', 'Open streams, including disconnected streams.', () =>
        this.open(),
      ),
      counter('libtorch_serve_streams_opened_total', 'Opened streams.', () => this.opened),
      counter(
        'libtorch_serve_streams_resumed_total',
        'Streams resumed after a broken connection.',
        () => this.resumed,
      ),
      counter('libtorch_serve_streams_ended_total', 'Ended streams by reason.', () =>
        byLabel('end', this.#ends),
      ),
      counter(
        'libtorch_serve_stream_windows_total',
        'Windows of streams by outcome; skipped: the deadline could not be met.',
        () => byLabel('outcome', this.#windows),
      ),
      histogram(
        'libtorch_serve_stream_window_duration_seconds',
        'Time from the arrival of the last sample of a window to its result.',
        () => [this.#duration],
      ),
    ];
  }
}
