import type { EngineError, Inference, InferOptions } from '../../native/engine';
import { ServiceError } from '../../serving/errors';
import type { Classification, Runs } from '../../tasks/abilities';
import type { TensorElement, TensorInput, Tensors } from '../../tasks/tensors';
import { checkElements, runList } from '../endpoint';
import { countElements, readElements, takeInputs } from './inputs';
import { requireKnownOutputs, selectOutputs } from './requested-outputs';
import type {
  InferRequest,
  InputSpecification,
  InputTensor,
  OutputTensor,
  TensorMetadata,
} from './tensor';

export interface ModelAnswer {
  readonly outputs: readonly OutputTensor[];
  /** What the engine said of each element. */
  readonly inferences: readonly Inference[];
}

/** A model as the protocol sees it: named tensors in, named tensors out. */
export class Model {
  readonly inputs: readonly InputSpecification[];
  readonly outputs: readonly TensorMetadata[];
  /** Names of what the classified output has in a row. */
  readonly labels: readonly string[];
  /** The output to which the classification extension applies. */
  readonly classified: string;
  readonly #model: Runs<unknown, Classification>;
  readonly #tensors: Tensors<unknown>;
  readonly #mostElements: number;

  /** @param mostElements that a request may have */
  constructor(
    model: Runs<unknown, Classification>,
    tensors: Tensors<unknown>,
    mostElements: number,
  ) {
    const { label, score, scores } = tensors.outputs;
    this.#model = model;
    this.#tensors = tensors;
    this.#mostElements = mostElements;
    this.labels = model.about.labels;
    this.classified = scores;
    this.inputs = tensors.inputs.map((input) => specify(input, model.maxLength));
    this.outputs = [
      { name: label, datatype: 'BYTES', shape: [-1] },
      { name: score, datatype: 'FP32', shape: [-1] },
      { name: scores, datatype: 'FP32', shape: [-1, this.labels.length] },
    ];
  }

  /** See `Engine.refusal`. */
  refusal(timeoutMs: number): EngineError | null {
    return this.#model.refusal(timeoutMs);
  }

  /**
   * Runs the model on what a request brings: each element its own entry of the queue, all of them or
   * none.
   *
   * @param options to be taken right before submitting
   * @returns the outputs that were asked for, as they were asked for
   * @throws ServiceError, ElementError, EngineError
   */
  async infer(request: InferRequest, options: () => InferOptions): Promise<ModelAnswer> {
    requireKnownOutputs(request.outputs, this);
    const given = takeInputs(request.inputs, this.inputs);
    const count = countElements(given, this.inputs, this.#mostElements);
    const columns = given.map((input, index) => input && this.#read(input, index, count));
    const inputs = Array.from({ length: count }, (_, row) =>
      this.#tensors.toInput(columns.map((column) => column?.[row])),
    );
    const { name } = given[0] as InputTensor;
    const { answers, inferences } = await runList(this.#model, inputs, options(), name);
    return { outputs: selectOutputs(this.#outputsOf(answers), request.outputs, this), inferences };
  }

  #read(input: InputTensor, index: number, count: number): readonly TensorElement[] {
    const elements = readElements(input, count);
    if (index > 0) return elements;
    checkElements(elements, input.name, (element) => {
      const problem = this.#tensors.problemOf(element);
      if (problem !== null) throw new ServiceError('INPUT_EMPTY', problem);
    });
    return elements;
  }

  /** The three outputs of a classifier: [n], [n] and [n, labels]. */
  #outputsOf(answers: readonly Classification[]): readonly OutputTensor[] {
    const { label, score, scores } = this.#tensors.outputs;
    const { length } = this.labels;
    const count = answers.length;
    const all = new Float32Array(count * length);
    for (const [index, answer] of answers.entries()) all.set(answer.scores, index * length);
    const labels = answers.map((answer) => answer.label);
    const ofLabels = Float32Array.from(answers, (answer) => answer.score);
    return [
      { name: label, datatype: 'BYTES', shape: [count], values: labels },
      { name: score, datatype: 'FP32', shape: [count], values: ofLabels },
      { name: scores, datatype: 'FP32', shape: [count, length], values: all },
    ];
  }
}

/** @param length of a window */
function specify({ name, holds, optional }: TensorInput, length: number): InputSpecification {
  return holds === 'text'
    ? { metadata: { name, datatype: 'BYTES', shape: [-1] }, datatypes: ['BYTES'], optional }
    : {
        metadata: { name, datatype: 'FP32', shape: [-1, length] },
        datatypes: ['FP32', 'FP64'],
        optional,
      };
}
