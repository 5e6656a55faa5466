import { ANY_POSITION, PositionError, parsePosition } from '../../streaming/timeline';
import type { UnackedBuffer } from './unacked-buffer';

const SHAPES = 'an array of samples, or an object with `samples`, `at` or `gap`';

/**
 * Adds an element of a source to the buffer, which copies the samples.
 *
 * @param name name of the element, for errors
 * @throws TypeError: the element is invalid; RangeError: a position is invalid
 */
export function addInput(buffer: UnackedBuffer, element: unknown, name: string): void {
  if (isList(element)) {
    const elements = samplesOf(element, name, buffer.width);
    withName(name, () => buffer.addSamples(elements));
    return;
  }
  const given = (typeof element === 'object' ? element : null) ?? {};
  const { samples, at, gap } = given as Readonly<Record<string, unknown>>;
  if (samples === undefined && at === undefined && gap === undefined) {
    throw new TypeError(`${name}: expected ${SHAPES}`);
  }
  if (gap !== undefined) {
    if (!Number.isSafeInteger(gap) || (gap as number) < 1) {
      throw new TypeError(`${name}.gap: expected a number of samples, at least 1`);
    }
    withName(`${name}.gap`, () => buffer.addGap(gap as number));
  }
  const list = samples === undefined ? null : samplesOf(samples, `${name}.samples`, buffer.width);
  if (at !== undefined) addPosition(buffer, at, `${name}.at`);
  if (list) withName(`${name}.samples`, () => buffer.addSamples(list));
}

function addPosition(buffer: UnackedBuffer, at: unknown, name: string): void {
  const position = parsePosition(at);
  if (position === null) throw new TypeError(`${name}: expected ${ANY_POSITION}`);
  withName(name, () => buffer.addPosition(position, at));
}

/** Adds the name of the element to the error of an invalid position. */
function withName(name: string, add: () => void): void {
  try {
    add();
  } catch (error) {
    if (!(error instanceof PositionError)) throw error;
    throw new RangeError(`${name}: ${error.message}`);
  }
}

function isList(value: unknown): value is ArrayLike<unknown> {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && 'length' in value && typeof value.length === 'number';
}

/** @param width values of a frame: one per channel */
function samplesOf(values: unknown, name: string, width: number): Float64Array | Float32Array {
  if (!isList(values)) throw new TypeError(`${name}: expected an array of samples`);
  if (width > 1 && isList(values[0])) return framesOf(values, name, width);
  if (values.length % width !== 0) {
    throw new TypeError(
      `${name}: expected frames of ${width} channels, found ${values.length} values`,
    );
  }
  if (values instanceof Float32Array || values instanceof Float64Array) return values;
  return Float64Array.from(values, (value, index) => toSample(value, `${name}[${index}]`));
}

function framesOf(frames: ArrayLike<unknown>, name: string, width: number): Float64Array {
  const values = new Float64Array(frames.length * width);
  for (const [index, frame] of Array.from(frames).entries()) {
    if (!isList(frame) || frame.length !== width) {
      throw new TypeError(`${name}[${index}]: expected a frame of ${width} numbers`);
    }
    for (let i = 0; i < width; i++) {
      values[index * width + i] = toSample(frame[i], `${name}[${index}][${i}]`);
    }
  }
  return values;
}

function toSample(value: unknown, name: string): number {
  if (typeof value === 'number') return value;
  if (value === null) return Number.NaN;
  throw new TypeError(`${name}: expected a number or null`);
}
