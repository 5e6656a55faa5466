import { byLabel, counter, type Family, gauge, zeros } from './family';
import { DURATION_BOUNDS, Histogram, histogram } from './histogram';

/**
 * How streams end: their clients said so; a message was not as it should be; answers were not taken; the service or
 * the model went; the connection broke and nobody came back.
 */
const ENDS = ['ended', 'error', 'timeout', 'leaving', 'broken'] as const;
export type StreamEnd = (typeof ENDS)[number];

/** What becomes of the windows of streams. */
const OUTCOMES = ['answered', 'unusable', 'skipped', 'failed'] as const;
export type WindowOutcome = (typeof OUTCOMES)[number];

/** Counts streams, and what becomes of their windows. */
export class StreamMetrics {
  /** Streams that go on, those included whose connection is broken. */
  open: () => number = () => 0;
  opened = 0;
  resumed = 0;
  readonly #ends = zeros(ENDS);
  readonly #windows = zeros(OUTCOMES);
  readonly #duration = new Histogram(DURATION_BOUNDS);

  ended(end: StreamEnd): void {
    this.#ends[end]++;
  }

  answered(milliseconds: number): void {
    this.#windows.answered++;
    this.#duration.observe(milliseconds / 1000);
  }

  count(outcome: Exclude<WindowOutcome, 'answered'>): void {
    this.#windows[outcome]++;
  }

  families(): readonly Family[] {
    return [
      gauge('libtorch_serve_streams', 'Streams that go on, broken ones included.', () =>
        this.open(),
      ),
      counter('libtorch_serve_streams_opened_total', 'Streams that began.', () => this.opened),
      counter(
        'libtorch_serve_streams_resumed_total',
        'Streams that were taken up again after their connection broke.',
        () => this.resumed,
      ),
      counter(
        'libtorch_serve_streams_ended_total',
        'Streams that are over, by how they ended.',
        () => byLabel('end', this.#ends),
      ),
      counter(
        'libtorch_serve_stream_windows_total',
        'Windows of streams, by what became of them; skipped: they could not come in time.',
        () => byLabel('outcome', this.#windows),
      ),
      histogram(
        'libtorch_serve_stream_window_duration_seconds',
        'From the arrival of the last sample of a window to its answer.',
        () => [this.#duration],
      ),
    ];
  }
}
