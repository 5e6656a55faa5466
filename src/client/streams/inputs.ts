import { ANY_POSITION, PositionError, parsePosition } from '../../streaming/timeline';
import type { UnackedBuffer } from './unacked-buffer';

const SHAPES = 'an array of samples, or an object with samples, at or gap';

/**
 * Adds an element of a source, of which nothing is kept.
 *
 * @param name of the element, for the error
 * @throws TypeError, RangeError: it is none
 */
export function addInput(said: UnackedBuffer, element: unknown, name: string): void {
  if (isList(element)) {
    const elements = samplesOf(element, name);
    placed(name, () => said.addSamples(elements));
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
    placed(`${name}.gap`, () => said.addGap(gap as number));
  }
  const list = samples === undefined ? null : samplesOf(samples, `${name}.samples`);
  if (at !== undefined) addPlace(said, at, `${name}.at`);
  if (list) placed(`${name}.samples`, () => said.addSamples(list));
}

function addPlace(said: UnackedBuffer, at: unknown, name: string): void {
  const place = parsePosition(at);
  if (place === null) throw new TypeError(`${name}: expected ${ANY_POSITION}`);
  placed(name, () => said.addPlace(place, at));
}

/** @throws RangeError: it cannot be there */
function placed(name: string, add: () => void): void {
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
