import { isUtf8 } from 'node:buffer';
import type { OutputTensor } from '../../tasks/tensors';
import { countOf, describeShape, elementPath, type InputTensor, invalid } from './tensor';

/** Size of the uint32 length of a BYTES element. */
const LENGTH_BYTES = 4;
const ELEMENT_BYTES = { FP32: 4, FP64: 8 } as const;

/**
 * Reads the elements of a BYTES input in row-major order. The caller validates the shape first,
 * because the shape determines the number of elements.
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
 * Reads the elements of an FP32 or FP64 input in row-major order and requires finite values.
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

/**
 * Returns the values of an input and requires as many values as its shape specifies. Does not
 * validate the values.
 */
function valuesOf<Values extends ArrayLike<unknown>>(
  input: InputTensor,
  readRaw: (input: InputTensor, bytes: Buffer, count: number) => Values,
): Values | readonly unknown[] {
  const { name, shape, contents } = input;
  const count = countOf(shape);
  if (contents.form === 'raw') return readRaw(input, contents.bytes, count);
  const values = contents.form === 'json' ? flatten(name, shape, contents.data) : contents.values;
  if (values.length === count) return values;
  const wanted = `${count} elements for the shape ${describeShape(shape)}`;
  throw invalid(`${name}: expected ${wanted}, received ${values.length}`);
}

/** Flattens nested JSON data; returns flat data unchanged. Does not validate the elements. */
function flatten(name: string, shape: readonly number[], data: unknown): readonly unknown[] {
  if (!Array.isArray(data)) throw invalid(`${name}: data: expected an array`);
  if (!Array.isArray(data[0])) return data;
  const flat: unknown[] = [];
  const append = (node: unknown, axis: number, path: string): void => {
    if (axis === shape.length) {
      flat.push(node);
      return;
    }
    if (!Array.isArray(node) || node.length !== shape[axis]) {
      const wanted = `an array of ${shape[axis]} for the shape ${describeShape(shape)}`;
      throw invalid(`${path}: expected ${wanted}`);
    }
    for (const [index, next] of node.entries()) append(next, axis + 1, `${path}[${index}]`);
  };
  append(data, 0, name);
  return flat;
}

/**
 * Reads a BYTES tensor: each element follows its length.
 *
 * @param count number of elements in the shape
 */
function readRawTexts(input: InputTensor, bytes: Buffer, count: number): readonly string[] {
  const texts: string[] = [];
  let offset = 0;
  for (let i = 0; i < count; i++) {
    const left = bytes.length - offset - LENGTH_BYTES;
    if (left < 0)
      throw invalid(`${elementPath(input, i)}: missing, because the data ends before this element`);
    const length = bytes.readUInt32LE(offset);
    if (length > left) {
      throw invalid(
        `${elementPath(input, i)}: has a length of ${length} bytes, but only ${left} are left`,
      );
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

/**
 * Decodes a BYTES element.
 *
 * @param index row-major index of the element
 */
function readText(input: InputTensor, index: number, bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalid(`${elementPath(input, index)}: is not valid UTF-8`);
  return bytes.toString('utf8');
}

/**
 * Reads numbers in binary form.
 *
 * @param count number of elements in the shape
 */
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
  // Copies the bytes: typed arrays must start at a multiple of their element size.
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
