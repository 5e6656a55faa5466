import type { EngineError, EngineMonitor, Inference, InferOptions } from '../../native/engine';
import { ServiceError } from '../../serving/errors';
import {
  type Datatype,
  describeShape,
  type InferRequest,
  type InputTensor,
  type OutputTensor,
  type TensorMetadata,
} from './tensor';

/** The one version that a model has. */
export const VERSION = '1';

/** An input of a model, in the shapes that it takes beside that of its metadata. */
export interface InputSpecification {
  readonly metadata: TensorMetadata;
  readonly datatypes: readonly Datatype[];
  readonly optional: boolean;
}

export interface ModelAnswer {
  readonly outputs: readonly OutputTensor[];
  /** What the engine said of each element. */
  readonly inferences: readonly Inference[];
}

/** A model as the protocol sees it: named tensors in, named tensors out. */
export interface Model {
  readonly inputs: readonly InputSpecification[];
  readonly outputs: readonly TensorMetadata[];
  /** Names of what the classified output has in a row. */
  readonly labels: readonly string[];
  /** The output to which the classification extension applies. */
  readonly classified: string;
  readonly monitor: EngineMonitor;
  /** See `Engine.refusal`. */
  refusal(timeoutMs: number): EngineError | null;
  /**
   * @param options to be taken right before submitting
   * @returns all outputs, whatever was asked for
   * @throws ServiceError, ElementError, EngineError
   */
  infer(request: InferRequest, options: () => InferOptions): Promise<ModelAnswer>;
}

/** The inputs by name; missing optional ones are left out. */
export function takeInputs(
  given: readonly InputTensor[],
  specifications: readonly InputSpecification[],
): ReadonlyMap<string, InputTensor> {
  const names = specifications.map(({ metadata }) => metadata.name);
  const inputs = new Map<string, InputTensor>();
  for (const [index, tensor] of given.entries()) {
    const found = specifications.find(({ metadata }) => metadata.name === tensor.name);
    if (!found) throw invalid(`inputs[${index}].name: expected ${names.join(' or ')}`);
    if (inputs.has(tensor.name)) throw invalid(`inputs[${index}].name: is there twice`);
    if (!(found.datatypes as readonly string[]).includes(tensor.datatype)) {
      const wanted = found.datatypes.join(' or ');
      throw invalid(`inputs[${index}].datatype: expected ${wanted} for ${tensor.name}`);
    }
    inputs.set(tensor.name, tensor);
  }
  for (const { metadata, optional } of specifications) {
    if (!optional && !inputs.has(metadata.name))
      throw invalid(`inputs: ${metadata.name} is required`);
  }
  return inputs;
}

/**
 * How many elements an input has: the length of its first axis.
 *
 * @param rests what may follow the first axis
 */
export function elementsOf(
  { name, shape }: InputTensor,
  rests: readonly (readonly number[])[],
  most: number,
): number {
  const [length, ...rest] = shape;
  const isKnown = rests.some((known) => describeShape(known) === describeShape(rest));
  if (length === undefined || length < 0 || !isKnown) {
    const wanted = rests.map((known) => describeShape(['n', ...known])).join(' or ');
    throw invalid(`${name}: expected the shape ${wanted}, received ${describeShape(shape)}`);
  }
  if (length > most) {
    throw new ServiceError(
      'LIST_TOO_LONG',
      `${name}: ${length} elements are over the limit of ${most}.`,
    );
  }
  return length;
}

/** One element's answer, whatever the model calls its parts. */
export interface Classified {
  readonly label: string;
  /** Of the label. */
  readonly score: number;
  /** Of all labels. */
  readonly scores: Float32Array;
}

/**
 * The three outputs of a classifier, [n], [n] and [n, labels], under the names of `model.outputs` in
 * that order.
 */
export function outputsOf(
  { outputs, labels }: Pick<Model, 'outputs' | 'labels'>,
  answers: readonly Classified[],
): ModelAnswer['outputs'] {
  const [label, score, all] = outputs.map(({ name }) => name) as [string, string, string];
  const count = answers.length;
  const scores = new Float32Array(count * labels.length);
  for (const [index, answer] of answers.entries()) scores.set(answer.scores, index * labels.length);
  return [
    {
      name: label,
      datatype: 'BYTES',
      shape: [count],
      values: answers.map((answer) => answer.label),
    },
    {
      name: score,
      datatype: 'FP32',
      shape: [count],
      values: Float32Array.from(answers, (answer) => answer.score),
    },
    { name: all, datatype: 'FP32', shape: [count, labels.length], values: scores },
  ];
}

function invalid(message: string): ServiceError {
  return new ServiceError('BODY_INVALID', message);
}
