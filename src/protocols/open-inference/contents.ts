import { readRawNumbers, readRawTexts, readText } from './raw';
import { countOf, describeShape, type InputTensor, invalid, placeOf } from './tensor';

/**
 * The elements of an input of BYTES, row-major. Its shape must be looked at before: it says how much
 * there is to be read.
 *
 * @throws ServiceError that names the input and the index
 */
export function readTexts({ name, shape, contents }: InputTensor): readonly string[] {
  const count = countOf(shape);
  if (contents.form === 'raw') return readRawTexts(name, shape, contents.bytes, count);
  const values = contents.form === 'json' ? flatten(name, shape, contents.data) : contents.values;
  requireCount(name, shape, values.length);
  return values.map((value, index) => {
    if (typeof value === 'string') return value;
    if (Buffer.isBuffer(value)) return readText(name, shape, index, value);
    throw invalid(`${placeOf(name, shape, index)}: expected a string`);
  });
}

/**
 * The same of FP32 or FP64: all of them finite.
 *
 * @throws ServiceError that names the input and the index
 */
export function readNumbers(
  input: InputTensor,
  datatype: 'FP32' | 'FP64',
): readonly number[] | Float32Array | Float64Array {
  const { name, shape, contents } = input;
  const count = countOf(shape);
  const values =
    contents.form === 'raw'
      ? readRawNumbers(input, datatype, contents.bytes, count)
      : contents.form === 'json'
        ? flatten(name, shape, contents.data)
        : contents.values;
  requireCount(name, shape, values.length);
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) continue;
    const what = typeof values[i] === 'number' ? 'a finite number' : 'a number';
    throw invalid(`${placeOf(name, shape, i)}: expected ${what}`);
  }
  return values as readonly number[] | Float32Array | Float64Array;
}

/** JSON data in one row; as it came where it already is. What its elements are is not looked at. */
function flatten(name: string, shape: readonly number[], data: unknown): readonly unknown[] {
  if (!Array.isArray(data)) throw invalid(`${name}: data: expected an array`);
  if (!Array.isArray(data[0])) return data;
  const flat: unknown[] = [];
  const append = (node: unknown, axis: number, place: string): void => {
    if (axis === shape.length) {
      flat.push(node);
      return;
    }
    if (!Array.isArray(node) || node.length !== shape[axis]) {
      const wanted = `an array of ${shape[axis]}, as the shape ${describeShape(shape)} says`;
      throw invalid(`${place}: expected ${wanted}`);
    }
    for (const [index, next] of node.entries()) append(next, axis + 1, `${place}[${index}]`);
  };
  append(data, 0, name);
  return flat;
}

function requireCount(name: string, shape: readonly number[], length: number): void {
  const count = countOf(shape);
  if (length === count) return;
  const wanted = `${count} elements, as the shape ${describeShape(shape)} says`;
  throw invalid(`${name}: expected ${wanted}, received ${length}`);
}
