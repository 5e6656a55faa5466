import { fitRobustLine, type Line } from './robust-line';

/** Residual above which an offset is an outlier, in seconds. */
const OUTLIER_SECONDS = 0.0001;
/** Limits of differences between successive offsets, beyond which the clock was reset. */
const TIME_RESET = { seconds: 5, deviations: 5 };
const VALUE_RESET = { seconds: 1, deviations: 10 };
/** Limits beyond which the last offset is damaged. */
const DAMAGED_RATIO = 10;
/** Ratio of the standard deviation to the median absolute deviation of a normal distribution. */
const DEVIATION_RATIO = 1.4826;

/** Measurements of the offset between the clock of a stream and the clock of the recorder, in seconds. */
export interface ClockOffsets {
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** Offsets between two resets of a clock; `last` is inclusive. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/**
 * Converts time stamps in place from the clock of their stream to the clock of the recorder. The steps and limits are
 * those of pyxdf 1.17: detection of resets, then a robust line per range of offsets.
 */
export function synchronize(stamps: Float64Array, offsets: ClockOffsets): void {
  const { times } = offsets;
  const ranges = times.length === 0 ? [] : findRanges(offsets);
  let start = 0;
  for (const { first, last } of ranges) {
    const { intercept, slope } = fitRange(offsets, { first, last });
    const end =
      last + 1 < times.length
        ? findChange(stamps, start, times[last] as number, times[last + 1] as number)
        : stamps.length;
    for (let index = start; index < end; index++) {
      const stamp = stamps[index] as number;
      stamps[index] = stamp + (intercept + slope * stamp);
    }
    start = end;
  }
}

/**
 * Whether the last offset is damaged, as recorders write when they stop
 * (https://github.com/sccn/liblsl/issues/246).
 */
export function isLastOffsetDamaged({ times, values }: ClockOffsets): boolean {
  if (times.length < 3) return false;
  const intervals = differences(times);
  const last = Math.abs(intervals[intervals.length - 1] as number);
  const typical = median(intervals.subarray(0, -1));
  const ratio = typical > 0 ? last / typical : last > 0 ? Number.POSITIVE_INFINITY : 1;
  const before = values.subarray(0, -1);
  const middle = median(before);
  const deviation = median(before.map((value) => Math.abs(value - middle)));
  const distance = Math.abs((values[values.length - 1] as number) - middle);
  const score = deviation > Number.EPSILON ? distance / (DEVIATION_RATIO * deviation) : 0;
  return ratio > DAMAGED_RATIO || score > DAMAGED_RATIO;
}

function fitRange({ times, values }: ClockOffsets, { first, last }: Range): Line {
  if (first === last) return { intercept: values[first] as number, slope: 0 };
  const [x, y] = [times.subarray(first, last + 1), values.subarray(first, last + 1)];
  return fitRobustLine(x, y, OUTLIER_SECONDS) ?? { intercept: 0, slope: 0 };
}

/** Splits the offsets where the clock was reset. */
function findRanges({ times, values }: ClockOffsets): readonly Range[] {
  const [timeSteps, valueSteps] = [differences(times), differences(values)];
  const isTimeOutlier = outliers(timeSteps, TIME_RESET);
  const isValueOutlier = outliers(valueSteps, VALUE_RESET);
  const ranges: Range[] = [];
  let first = 0;
  for (const [index, step] of timeSteps.entries()) {
    if (step >= 0 && !(isTimeOutlier(step) && isValueOutlier(valueSteps[index] as number)))
      continue;
    ranges.push({ first, last: index });
    first = index + 1;
  }
  return [...ranges, { first, last: times.length - 1 }];
}

function outliers(
  steps: Float64Array,
  limit: { readonly seconds: number; readonly deviations: number },
): (step: number) => boolean {
  if (steps.length === 0) return () => false;
  const middle = median(steps);
  const deviation = median(steps.map((step) => Math.abs(step - middle))) + Number.EPSILON;
  return (step) => {
    const distance = Math.abs(step - middle);
    return distance / deviation > limit.deviations && distance > limit.seconds;
  };
}

/** First stamp from `start` on that is nearer to `after` than to `before`. */
function findChange(stamps: Float64Array, start: number, before: number, after: number): number {
  let index = start;
  const isBefore = (stamp: number) => Math.abs(stamp - before) < Math.abs(stamp - after);
  while (index < stamps.length && isBefore(stamps[index] as number)) index++;
  return index;
}

function differences(values: Float64Array): Float64Array {
  return values.subarray(1).map((value, index) => value - (values[index] as number));
}

function median(values: Float64Array): number {
  const sorted = values.slice().sort();
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}
