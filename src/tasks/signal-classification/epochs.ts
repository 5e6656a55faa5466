import type { Annotation } from '../../recordings/recording';
import { type EpochSettings, roundHalfToEven } from './epoch-settings';

/** An event that an annotation marks. */
export interface EpochEvent {
  /** Text of the annotation. */
  readonly text: string;
  /** Class that the annotation names; null: unknown. */
  readonly expected: string | null;
  /** Seconds since the start of the recording. */
  readonly seconds: number;
}

/** Maximum number of events of a recording. */
const MAX_EVENTS = 1_000_000;

/**
 * The events of annotations, in order. Like `mne.events_from_annotations` with `chunk_duration`: a chunk that does not
 * fit into its annotation is no event.
 *
 * @param classes names of the classes of the model
 */
export function eventsOf(
  annotations: readonly Annotation[],
  { events, chunkSeconds }: EpochSettings,
  classes: readonly string[],
): readonly EpochEvent[] {
  const found: EpochEvent[] = [];
  for (const { text, onsetSeconds, durationSeconds } of annotations) {
    if (events !== null && !events.has(text)) continue;
    const expected =
      events === null ? (classes.includes(text) ? text : null) : (events.get(text) ?? null);
    const room = MAX_EVENTS - found.length;
    const chunks = chunkSeconds === null ? 1 : chunksIn(durationSeconds ?? 0, chunkSeconds);
    for (let chunk = 0; chunk < Math.min(chunks, room); chunk++) {
      found.push({ text, expected, seconds: onsetSeconds + chunk * (chunkSeconds ?? 0) });
    }
  }
  return found.sort((a, b) => a.seconds - b.seconds);
}

function chunksIn(duration: number, chunk: number): number {
  return Math.floor(duration / chunk + 1e-9);
}

/** A window around an event. */
export interface Epoch extends EpochEvent {
  /** First sample of the window in its segment. */
  readonly start: number;
}

/**
 * The windows of events within a segment.
 *
 * @param segment start in seconds since the start of the recording, and length in samples
 */
export function epochsIn(
  events: readonly EpochEvent[],
  { startSeconds }: EpochSettings,
  segment: { readonly startSeconds: number; readonly length: number },
  { rate, windowLength }: { readonly rate: number; readonly windowLength: number },
): readonly Epoch[] {
  const offset = roundHalfToEven(startSeconds * rate);
  return events
    .map((event) => ({
      ...event,
      start: roundHalfToEven((event.seconds - segment.startSeconds) * rate) + offset,
    }))
    .filter(({ start }) => start >= 0 && start + windowLength <= segment.length);
}
