/** An input of a model as a tensor; its first axis is that of the elements. */
export interface TensorInput {
  readonly name: string;
  /** An element is a text, or the samples of a window, in FP32 or FP64. */
  readonly holds: 'text' | 'samples';
  readonly optional: boolean;
}

/** What a tensor holds at one place of its first axis. */
export type TensorElement = string | readonly number[];

/** A task's inputs and answers as named tensors. */
export interface Tensors<Input> {
  /** The first one is needed, and errors of an element are said of it. */
  readonly inputs: readonly TensorInput[];
  /** Names of a classifier's outputs: labels [n], their scores [n], scores of all labels [n, labels]. */
  readonly outputs: { readonly label: string; readonly score: string; readonly scores: string };
  /** What is wrong with an element of the first input; null: nothing. */
  problemOf(element: TensorElement): string | null;
  /** @param elements one of each of `inputs`, in their order; undefined: it is left out */
  toInput(elements: readonly (TensorElement | undefined)[]): Input;
}
