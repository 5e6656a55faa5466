import { type Segment, secondsOf } from '../../recordings/recording';

/** Part of the time axis without samples, in seconds. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Time axis of a channel; its unit is the sample if the sampling rate is unknown. */
export interface Timeline {
  /** Segments at the times of this axis. */
  readonly segments: readonly Segment[];
  readonly gaps: readonly Gap[];
  /** Time of the last sample. */
  readonly end: number;
  /** Times of all samples. */
  times(): Float64Array;
  toSeconds(sample: number): number;
  /** Sample at a time; in a gap, the first sample behind the gap. May be fractional. */
  toSample(seconds: number): number;
}

/**
 * Creates the time axis. If the segments overlap in time, which a plot cannot show, segments follow each other without
 * gaps.
 *
 * @param rate sampling rate in Hz; null if unknown
 */
export function createTimeline(
  segments: readonly Segment[],
  samples: number,
  rate: number | null,
): Timeline {
  const hz = rate ?? 1;
  const endOf = (index: number) => segments[index + 1]?.firstSample ?? samples;
  const lastSecond = (index: number) => secondsOf({ segments }, endOf(index) - 1, hz);
  const isOrdered = segments.every(
    ({ startSeconds }, index) => index === 0 || startSeconds > lastSecond(index - 1),
  );
  const used = rate !== null && isOrdered ? segments : segments.map((part) => toSamples(part, hz));
  const toSeconds = (sample: number) => secondsOf({ segments: used }, sample, hz);
  const gaps = used.slice(1).map(({ startSeconds, firstSample }) => ({
    from: toSeconds(firstSample - 1),
    to: startSeconds,
  }));
  return {
    segments: used,
    gaps,
    end: toSeconds(samples - 1),
    times: () => {
      const all = new Float64Array(samples);
      for (const [index, { firstSample, startSeconds, measuredRateHz }] of used.entries()) {
        const step = 1 / (measuredRateHz ?? hz);
        for (let at = firstSample; at < endOf(index); at++) {
          all[at] = startSeconds + (at - firstSample) * step;
        }
      }
      return all;
    },
    toSeconds,
    toSample: (seconds) => {
      const found = used.findLastIndex(({ startSeconds }) => startSeconds <= seconds);
      const { firstSample, startSeconds, measuredRateHz } = used[Math.max(0, found)] as Segment;
      const sample = firstSample + (seconds - startSeconds) * (measuredRateHz ?? hz);
      return Math.min(sample, endOf(Math.max(0, found)));
    },
  };
}

/** Segment at the time of its first sample in a signal without gaps. */
function toSamples({ firstSample }: Segment, rate: number): Segment {
  return { firstSample, startSeconds: firstSample / rate, measuredRateHz: null };
}
