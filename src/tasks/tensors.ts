/** An input of a model as a tensor; its first axis is that of the elements. */
export interface TensorInput {
  readonly name: string;
  /** An element is a text, or the samples of a window, in FP32 or FP64. */
  readonly content: 'text' | 'samples';
  readonly optional: boolean;
}

/** What a tensor holds at one place of its first axis. */
export type TensorElement = string | readonly number[];

/** An output of a model as a tensor; its first axis is that of the elements. */
export interface TensorOutput {
  readonly name: string;
  readonly datatype: 'BYTES' | 'FP32' | 'UINT32';
  /** -1: any length. */
  readonly shape: readonly number[];
}

/** Values are row-major: strings of BYTES, else numbers. */
export type OutputTensor = {
  readonly name: string;
  readonly shape: readonly number[];
} & (
  | { readonly datatype: 'BYTES'; readonly values: readonly string[] }
  | { readonly datatype: 'FP32'; readonly values: Float32Array }
  | { readonly datatype: 'UINT32'; readonly values: Uint32Array }
);

/** A task's inputs and answers as named tensors. */
export interface Tensors<Input, Answer, Metadata> {
  /** The first one is needed, and errors of an element are said of it. */
  readonly inputs: readonly TensorInput[];
  outputs(metadata: Metadata): readonly TensorOutput[];
  /** The first output, and others beside it, has a row for each token of all inputs. */
  readonly hasRowPerToken?: true;
  /** What has a column for each of a classifier's labels; null: no output does. */
  labeledOutput(metadata: Metadata): ClassifiedOutput | null;
  /** What is wrong with an element of the first input; null: nothing. */
  findProblem(element: TensorElement): string | null;
  /** @param elements one of each of `inputs`, in their order; undefined: it is left out */
  toInput(elements: readonly (TensorElement | undefined)[]): Input;
  /** All of `outputs`, in their order. @param answers one for each element */
  write(answers: readonly Answer[], metadata: Metadata): readonly OutputTensor[];
}

export interface ClassifiedOutput {
  readonly name: string;
  readonly labels: readonly string[];
}
