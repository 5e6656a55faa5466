import { isUtf8 } from 'node:buffer';
import { describeShape, invalid, type OutputTensor, placeOf } from './tensor';

/** Of the uint32 before each element of BYTES. */
const LENGTH_BYTES = 4;
const ELEMENT_BYTES = { FP32: 4, FP64: 8 } as const;

type Shape = readonly number[];

/** What a tensor of BYTES holds: each element behind its length. `count`: elements of its shape. */
export function readRawTexts(name: string, shape: Shape, bytes: Buffer, count: number): string[] {
  const texts: string[] = [];
  let offset = 0;
  for (let i = 0; i < count; i++) {
    const left = bytes.length - offset - LENGTH_BYTES;
    if (left < 0) {
      throw invalid(`${placeOf(name, shape, i)}: is missing: the data ends before it`);
    }
    const length = bytes.readUInt32LE(offset);
    if (length > left) {
      const place = placeOf(name, shape, i);
      throw invalid(`${place}: is ${length} bytes long, but only ${left} follow`);
    }
    offset += LENGTH_BYTES;
    texts.push(readText(name, shape, i, bytes.subarray(offset, offset + length)));
    offset += length;
  }
  if (offset < bytes.length) {
    const rest = bytes.length - offset;
    const elements = `${count} elements of ${describeShape(shape)}`;
    throw invalid(`${name}: ${rest} bytes follow the ${elements}`);
  }
  return texts;
}

/** One element of BYTES. `index`: row-major. */
export function readText(name: string, shape: Shape, index: number, bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalid(`${placeOf(name, shape, index)}: is not valid UTF-8`);
  return bytes.toString('utf8');
}

/** Numbers as they lie in memory. `count`: elements of the shape. */
export function readRawNumbers(
  { name, shape }: { readonly name: string; readonly shape: Shape },
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
