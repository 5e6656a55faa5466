import { ServiceError } from '../../serving/errors';

/** Data types that models of this server read or write. */
export type Datatype = 'BYTES' | 'FP32' | 'FP64' | 'UINT32';

/** Encoding of the values of an input. */
export type Contents =
  /** JSON array, flat in row-major order or nested according to the shape. */
  | { readonly form: 'json'; readonly data: unknown }
  /** Little-endian values without padding. A BYTES element follows its length as a uint32. */
  | { readonly form: 'raw'; readonly bytes: Buffer }
  /** Values of the typed repeated field of a message, in row-major order. */
  | { readonly form: 'typed'; readonly values: readonly (Buffer | number)[] };

export interface InputTensor {
  readonly name: string;
  /** Data type in the request, not validated. */
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly contents: Contents;
}

/** Output that the request selects. */
export interface RequestedOutput {
  readonly name: string;
  /**
   * Number of highest values to return with their labels instead of the tensor; 0: return the
   * tensor.
   */
  readonly classification: number;
  /** Whether the data follows the JSON in binary form; null: the default of the request. */
  readonly binary: boolean | null;
}

/** Inference request of either transport. */
export interface InferRequest {
  /** Request ID, which the response repeats; empty: no ID. */
  readonly id: string;
  /** Deadline in ms after the arrival of the request; null: not specified. */
  readonly timeoutMs: number | null;
  readonly inputs: readonly InputTensor[];
  /** Selected outputs; null: all. */
  readonly outputs: readonly RequestedOutput[] | null;
}

/** Tensor in the metadata of a model. -1 in the shape: any length. */
export interface TensorMetadata {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: readonly number[];
}

/** Input of a model with its accepted data types. The metadata contains only one of them. */
export interface InputSpecification {
  readonly metadata: TensorMetadata;
  readonly datatypes: readonly Datatype[];
  readonly optional: boolean;
}

export function countOf(shape: readonly number[]): number {
  return shape.reduce((count, length) => count * length, 1);
}

/**
 * Returns the path of an element, such as `SIGNAL[2][17]`.
 *
 * @param index row-major index of the element
 */
export function elementPath({ name, shape }: InputTensor, index: number): string {
  let rest = index;
  let indexes = '';
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const length = shape[axis] as number;
    indexes = `[${rest % length}]${indexes}`;
    rest = Math.floor(rest / length);
  }
  return name + indexes;
}

export function describeShape(shape: readonly (number | string)[]): string {
  return `[${shape.join(', ')}]`;
}

/**
 * Creates an error for an invalid request.
 *
 * @param message path and problem: `SIGNAL[2]: …`, `inputs[0].name: …`
 */
export function invalid(message: string): ServiceError {
  return new ServiceError('BODY_INVALID', message);
}
