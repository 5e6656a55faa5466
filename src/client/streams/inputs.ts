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
    const elements = samplesOf(element, name);
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
  const list = samples === undefined ? null : samplesOf(samples, `${name}.samples`);
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

function samplesOf(values: unknown, name: string): Float64Array | Float32Array {
  if (!isList(values)) throw new TypeError(`${name}: expected an array of samples`);
  if (values instanceof Float32Array || values instanceof Float64Array) return values;
  const samples = new Float64Array(values.length);
  for (let i = 0; i < samples.length; i++) {
    const value = values[i];
    if (typeof value !== 'number' && value !== null) {
      throw new TypeError(`${name}[${i}]: expected a number or null`);
    }
    samples[i] = value ?? Number.NaN;
  }
  return samples;
}
