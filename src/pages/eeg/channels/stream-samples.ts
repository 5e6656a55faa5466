import type { StreamInput } from '../../../client';
import { framesOf, type Selection } from './select-channels';

/** Values per message of a stream. */
const PIECE_VALUES = 32_768;

/** Missing samples before each segment. */
export function gapsBefore({ timeline: { segments, toSeconds }, rate }: Selection): number[] {
  return segments.map(({ firstSample, startSeconds }, index) => {
    if (index === 0) return 0;
    const expected = toSeconds(firstSample - 1) + 1 / rate;
    return Math.max(1, Math.round((startSeconds - expected) * rate));
  });
}

/** Frames of the recording in pieces, with its gaps. */
export function* streamInputs(chosen: Selection): Generator<StreamInput> {
  const { channels, length, timeline } = chosen;
  const missing = gapsBefore(chosen);
  const piece = Math.max(1, Math.floor(PIECE_VALUES / channels.length));
  for (const [index, { firstSample }] of timeline.segments.entries()) {
    const gap = missing[index] as number;
    if (gap > 0) yield { gap };
    const end = timeline.segments[index + 1]?.firstSample ?? length;
    for (let from = firstSample; from < end; from += piece) {
      yield framesOf(chosen, from, Math.min(end, from + piece));
    }
  }
}

/** Converts the number of a sample of the stream, which counts missing samples, to a sample of the recording. */
export function placeOf(chosen: Selection): (sample: number) => number {
  const missing = gapsBefore(chosen);
  let before = 0;
  const parts = chosen.timeline.segments.map(({ firstSample }, index) => {
    before += missing[index] as number;
    return { from: firstSample + before, before };
  });
  return (sample) => sample - (parts.findLast(({ from }) => from <= sample)?.before ?? 0);
}
