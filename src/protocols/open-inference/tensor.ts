import { ServiceError } from '../../serving/errors';

/** Tensors of the Open Inference Protocol, as requests bring them and answers hold them. */

/** Those of its data types that a model here reads or writes. */
export type Datatype = 'BYTES' | 'FP32' | 'FP64' | 'UINT32';

/** How the values of an input came. */
export type Contents =
  /** As JSON: an array, flat in row-major order or nested as the shape says. */
  | { readonly form: 'json'; readonly data: unknown }
  /** Little-endian, without gaps; of BYTES, each element behind its length as a uint32. */
  | { readonly form: 'raw'; readonly bytes: Buffer }
  /** In the repeated field of a message for its data type, row-major. */
  | { readonly form: 'typed'; readonly values: readonly (Buffer | number)[] };

export interface InputTensor {
  readonly name: string;
  /** As the client wrote it. */
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly contents: Contents;
}

/** An output that is asked for. */
export interface RequestedOutput {
  readonly name: string;
  /** How many of the highest values, with their labels, are wanted instead of the tensor; 0: the tensor. */
  readonly classification: number;
  /** Whether its data follows the JSON; null: as the request says for all. */
  readonly binary: boolean | null;
}

/** A request, whatever brought it. */
export interface InferRequest {
  /** Comes back in the answer; empty: there is none. */
  readonly id: string;
  /** The deadline, from the arrival of the request, in ms; null: it names none. */
  readonly timeoutMs: number | null;
  readonly inputs: readonly InputTensor[];
  /** Null: all. */
  readonly outputs: readonly RequestedOutput[] | null;
}

/** What the metadata of a model says of a tensor; -1: any length. */
export interface TensorMetadata {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: readonly number[];
}

/** An input of a model, in the types that it takes beside that of its metadata. */
export interface InputSpecification {
  readonly metadata: TensorMetadata;
  readonly datatypes: readonly Datatype[];
  readonly optional: boolean;
}

export function countOf(shape: readonly number[]): number {
  return shape.reduce((count, length) => count * length, 1);
}

/** A place in a tensor: `SIGNAL[2][17]`. `index`: row-major. */
export function elementPath({ name, shape }: InputTensor, index: number): string {
  let rest = index;
  let place = '';
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const length = shape[axis] as number;
    place = `[${rest % length}]${place}`;
    rest = Math.floor(rest / length);
  }
  return name + place;
}

export function describeShape(shape: readonly (number | string)[]): string {
  return `[${shape.join(', ')}]`;
}

/** @param message what is wrong, behind the place in the request: `SIGNAL[2]: …`, `inputs[0].name: …` */
export function invalid(message: string): ServiceError {
  return new ServiceError('BODY_INVALID', message);
}
