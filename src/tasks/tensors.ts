/** Model input as a tensor. The first axis is the batch. */
export interface TensorInput {
  readonly name: string;
  /** Element type: a text, or the samples of a window in FP32 or FP64. */
  readonly content: 'text' | 'samples';
  readonly optional: boolean;
}

/** Value of a tensor at one index of the batch axis. */
export type TensorElement = string | readonly number[];

/** Model output as a tensor. The first axis is the batch. */
export interface TensorOutput {
  readonly name: string;
  readonly datatype: 'BYTES' | 'FP32' | 'UINT32';
  /** -1: any length. */
  readonly shape: readonly number[];
}

/** Tensor with row-major values: strings for BYTES, numbers otherwise. */
export type OutputTensor = {
  readonly name: string;
  readonly shape: readonly number[];
} & (
  | { readonly datatype: 'BYTES'; readonly values: readonly string[] }
  | { readonly datatype: 'FP32'; readonly values: Float32Array }
  | { readonly datatype: 'UINT32'; readonly values: Uint32Array }
);

/** Inputs and predictions of a task as named tensors. */
export interface Tensors<Input, Answer, Metadata> {
  /** The first input is required. Errors of an element name the first input. */
  readonly inputs: readonly TensorInput[];
  /** Shape of a window of samples. Default: its length. */
  windowShape?(metadata: Metadata): readonly number[];
  outputs(metadata: Metadata): readonly TensorOutput[];
  /** The first output has a row for each token of all inputs. Further outputs can have such rows. */
  readonly hasRowPerToken?: true;
  /** Output with a column per label; null: no such output. */
  labeledOutput(metadata: Metadata): ClassifiedOutput | null;
  /** Problem with an element of the first input; null: the element is valid. */
  findProblem(element: TensorElement): string | null;
  /** Problem with an element of another input, by its name. Default: all elements are valid. */
  findOtherProblem?(element: TensorElement, input: string): string | null;
  /** @param elements an element of each input, in the order of `inputs`; undefined: omitted */
  toInput(elements: readonly (TensorElement | undefined)[]): Input;
  /** All tensors in the order of `outputs`. @param answers predictions in the order of the batch */
  write(answers: readonly Answer[], metadata: Metadata): readonly OutputTensor[];
}

export interface ClassifiedOutput {
  readonly name: string;
  readonly labels: readonly string[];
}
