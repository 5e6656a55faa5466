import { isUtf8 } from 'node:buffer';
import type { OutputTensor } from '../../tasks/tensors';
import { countOf, describeShape, elementPath, type InputTensor, invalid } from './tensor';

/** Of the uint32 before each element of BYTES. */
const LENGTH_BYTES = 4;
const ELEMENT_BYTES = { FP32: 4, FP64: 8 } as const;

/**
 * The elements of an input of BYTES, row-major. Its shape must be looked at before: it says how much
 * there is to be read.
 *
 * @throws ServiceError that names the input and the index
 */
export function readTexts(input: InputTensor): readonly string[] {
  return valuesOf(input, readRawTexts).map((value, index) => {
    if (typeof value === 'string') return value;
    if (Buffer.isBuffer(value)) return readText(input, index, value);
    throw invalid(`${elementPath(input, index)}: expected a string`);
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
  const values = valuesOf(input, (_, bytes, count) =>
    readRawNumbers(input, datatype, bytes, count),
  );
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) continue;
    const what = typeof values[i] === 'number' ? 'a finite number' : 'a number';
    throw invalid(`${elementPath(input, i)}: expected ${what}`);
  }
  return values as readonly number[] | Float32Array | Float64Array;
}

/** The elements of an input: as many as its shape says, whatever they are. */
function valuesOf<Values extends ArrayLike<unknown>>(
  input: InputTensor,
  readRaw: (input: InputTensor, bytes: Buffer, count: number) => Values,
): Values | readonly unknown[] {
  const { name, shape, contents } = input;
  const count = countOf(shape);
  if (contents.form === 'raw') return readRaw(input, contents.bytes, count);
  const values = contents.form === 'json' ? flatten(name, shape, contents.data) : contents.values;
  if (values.length === count) return values;
  const wanted = `${count} elements, as the shape ${describeShape(shape)} says`;
  throw invalid(`${name}: expected ${wanted}, received ${values.length}`);
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

/** What a tensor of BYTES holds: each element behind its length. `count`: elements of its shape. */
function readRawTexts(input: InputTensor, bytes: Buffer, count: number): readonly string[] {
  const texts: string[] = [];
  let offset = 0;
  for (let i = 0; i < count; i++) {
    const left = bytes.length - offset - LENGTH_BYTES;
    if (left < 0) throw invalid(`${elementPath(input, i)}: is missing: the data ends before it`);
    const length = bytes.readUInt32LE(offset);
    if (length > left) {
      throw invalid(`${elementPath(input, i)}: is ${length} bytes long, but only ${left} follow`);
    }
    offset += LENGTH_BYTES;
    texts.push(readText(input, i, bytes.subarray(offset, offset + length)));
    offset += length;
  }
  if (offset < bytes.length) {
    const elements = `${count} elements of ${describeShape(input.shape)}`;
    throw invalid(`${input.name}: ${bytes.length - offset} bytes follow the ${elements}`);
  }
  return texts;
}

/** One element of BYTES. `index`: row-major. */
function readText(input: InputTensor, index: number, bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalid(`${elementPath(input, index)}: is not valid UTF-8`);
  return bytes.toString('utf8');
}

/** Numbers as they lie in memory. `count`: elements of the shape. */
function readRawNumbers(
  { name, shape }: InputTensor,
  datatype: 'FP32' | 'FP64',
  bytes: Buffer,
  count: number,
): Float32Array | Float64Array {
  const expected = count * ELEMENT_BYTES[datatype];
  if (bytes.length !== expected) {
    const wanted = `expected ${expected} bytes for ${datatype} ${describeShape(shape)}`;
    throw invalid(`${name}: ${wanted}, received ${bytes.length}`);
  }
  // A copy: typed arrays have to begin at a multiple of their elements' size.
  const { buffer } = Uint8Array.from(bytes);
  return datatype === 'FP32' ? new Float32Array(buffer) : new Float64Array(buffer);
}

export function writeRaw(tensor: OutputTensor): Buffer {
  if (tensor.datatype === 'BYTES') return writeRawTexts(tensor.values);
  const { buffer, byteOffset, byteLength } = tensor.values;
  return Buffer.from(buffer, byteOffset, byteLength);
}

function writeRawTexts(texts: readonly string[]): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text));
  const total = lengths.reduce((sum, length) => sum + LENGTH_BYTES + length, 0);
  const bytes = Buffer.allocUnsafe(total);
  let offset = 0;
  for (const [index, text] of texts.entries()) {
    offset = bytes.writeUInt32LE(lengths[index] as number, offset);
    offset += bytes.write(text, offset);
  }
  return bytes;
}
