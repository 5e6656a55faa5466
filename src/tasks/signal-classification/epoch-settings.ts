import { z } from 'zod';
import { expected, quoted } from '../../models/json';

/** How windows are placed around the annotations of a recording, like `mne.Epochs`. */
export interface EpochSettings {
  /** Class of the event by the text of its annotation, null: unknown; null: all annotations are events. */
  readonly events: ReadonlyMap<string, string | null> | null;
  /** Start of a window relative to its event, in seconds. */
  readonly startSeconds: number;
  /** First and last time relative to the event whose mean is subtracted, in seconds; null: none is subtracted. */
  readonly baseline: readonly [number, number] | null;
  /** Events repeat at this interval within an annotation, in seconds; null: an annotation is one event. */
  readonly chunkSeconds: number | null;
}

const seconds = z.number(expected('a number of seconds'));

/** Schema of the object `epochs` in model settings. */
export const epochsSchema = z.strictObject(
  {
    events: z
      .record(
        z.string(),
        z.string(expected('the name of a class, or null')).nullable(),
        expected('an object with the class of each text'),
      )
      .optional()
      .describe(
        'Texts of annotations that are events, each with its class for the agreement, or null. Default: all annotations; their texts are classes',
      ),
    start_s: seconds.default(0).describe('Start of a window relative to its event, in seconds'),
    baseline_s: z
      .tuple([seconds, seconds], expected('two numbers of seconds'))
      .refine(([first, last]) => first <= last, { error: 'expected the earlier time first' })
      .nullable()
      .default(null)
      .describe('Times relative to the event whose mean is subtracted from each channel'),
    chunk_duration_s: seconds
      .positive(expected('a number of seconds above 0'))
      .nullable()
      .default(null)
      .describe(
        'Interval of events within an annotation: sleep stages of 5 minutes are ten events of 30 s. Default: an annotation is one event',
      ),
  },
  expected('an object'),
);

type Given = z.output<typeof epochsSchema>;

export function toEpochSettings({
  events,
  start_s,
  baseline_s,
  chunk_duration_s,
}: Given): EpochSettings {
  return {
    events: events ? new Map(Object.entries(events)) : null,
    startSeconds: start_s,
    baseline: baseline_s,
    chunkSeconds: chunk_duration_s,
  };
}

/**
 * First and last sample of a window whose mean is subtracted, as `mne.Epochs` selects them; null: no baseline.
 *
 * @throws RangeError: the baseline is not within the window
 */
export function baselineSamples(
  { startSeconds, baseline }: EpochSettings,
  rate: number,
  windowLength: number,
): readonly [number, number] | null {
  if (baseline === null) return null;
  const start = roundHalfToEven(startSeconds * rate);
  const [first, last] = baseline.map((time) => roundHalfToEven(time * rate) - start) as [
    number,
    number,
  ];
  if (first >= 0 && last < windowLength) return [first, last];
  const end = (start + windowLength - 1) / rate;
  throw new RangeError(
    `expected times from ${start / rate} to ${end} s, those of a window, found ${quoted(baseline)}`,
  );
}

/** Rounds like NumPy. */
export function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
