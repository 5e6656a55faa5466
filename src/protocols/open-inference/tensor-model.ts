import type { EngineError, Inference, InferOptions } from '../../native/engine';
import { checkElements, inferList } from '../../services/inference';
import { ServiceError } from '../../serving/errors';
import { requireResponseSize } from '../../serving/json';
import type { Prediction, Predictor } from '../../tasks/capabilities';
import type { Task } from '../../tasks/task';
import type {
  ClassifiedOutput,
  OutputTensor,
  TensorElement,
  TensorInput,
} from '../../tasks/tensors';
import { countElements, matchInputs, readElements } from './inputs';
import { maxTokenOutputs, rowBytes } from './output-size';
import { requireKnownOutputs, selectOutputs } from './outputs';
import type { InferRequest, InputSpecification, InputTensor, TensorMetadata } from './tensor';

export interface InferResult {
  readonly outputs: readonly OutputTensor[];
  /** Inference metadata of each element. */
  readonly inferences: readonly Inference[];
}

interface Limits {
  /** Maximum number of elements of a request. */
  readonly listLength: number;
  /** Maximum size of a response in bytes. */
  readonly responseLimit: number;
}

/** Loaded model of any task. */
type Asked = Predictor<unknown, Prediction>;

/** Model with named input and output tensors. */
export class TensorModel {
  readonly inputs: readonly InputSpecification[];
  readonly outputs: readonly TensorMetadata[];
  /** Output that supports the classification extension; null: no such output. */
  readonly classified: ClassifiedOutput | null;
  readonly #model: Asked;
  readonly #tensors: Task['tensors'];
  readonly #limits: Limits;

  constructor(model: Asked, tensors: Task['tensors'], limits: Limits) {
    this.#model = model;
    this.#tensors = tensors;
    this.#limits = limits;
    this.classified = tensors.labeledOutput(model.metadata);
    this.inputs = tensors.inputs.map((input) =>
      specify(input, tensors.windowShape?.(model.metadata) ?? [model.maxLength]),
    );
    this.outputs = tensors.outputs(model.metadata);
  }

  /** Admission check, see `Engine.admissionError`. */
  admissionError(timeoutMs: number): EngineError | null {
    return this.#model.admissionError(timeoutMs);
  }

  /**
   * Runs the model on the tensors of a request. Each element takes an entry of the queue; if the
   * queue cannot take all elements, none runs.
   *
   * @param options called immediately before submission
   * @param numberBytes bytes per number of an output in the response
   * @returns the selected outputs in request order
   * @throws ServiceError, ElementError, EngineError
   */
  async infer(
    request: InferRequest,
    options: () => InferOptions,
    numberBytes: (output: string) => number,
  ): Promise<InferResult> {
    requireKnownOutputs(request.outputs, this);
    const ordered = matchInputs(request.inputs, this.inputs);
    const count = countElements(ordered, this.inputs, this.#limits.listLength);
    const selected = { outputs: this.outputs, requested: request.outputs, numberBytes };
    const { responseLimit } = this.#limits;
    const isByToken = this.#tensors.hasRowPerToken ?? false;
    if (!isByToken) requireResponseSize(count * rowBytes(selected), responseLimit);
    const maxOutputs = isByToken ? maxTokenOutputs(selected, responseLimit) : null;
    const columns = ordered.map((input, index) => input && this.#read(input, index, count));
    const inputs = Array.from({ length: count }, (_, row) =>
      this.#tensors.toInput(columns.map((column) => column?.[row])),
    );
    const { name } = ordered[0] as InputTensor;
    const limited = { ...options(), ...(maxOutputs !== null && { maxOutputs }) };
    const { predictions, inferences } = await inferList(this.#model, inputs, limited, name);
    const outputs = this.#tensors.write(predictions, this.#model.metadata);
    return { outputs: selectOutputs(outputs, request.outputs, this), inferences };
  }

  #read(input: InputTensor, index: number, count: number): readonly TensorElement[] {
    const elements = readElements(input, count);
    const { findProblem, findOtherProblem } = this.#tensors;
    const find = index === 0 ? findProblem : findOtherProblem;
    if (!find) return elements;
    checkElements(elements, input.name, (element) => {
      const problem = find(element, input.name);
      if (problem !== null) throw new ServiceError('INPUT_EMPTY', problem);
    });
    return elements;
  }
}

/**
 * Creates the specification of an input.
 *
 * @param window shape of a window of samples
 */
function specify(
  { name, content: holds, optional }: TensorInput,
  window: readonly number[],
): InputSpecification {
  return holds === 'text'
    ? { metadata: { name, datatype: 'BYTES', shape: [-1] }, datatypes: ['BYTES'], optional }
    : {
        metadata: { name, datatype: 'FP32', shape: [-1, ...window] },
        datatypes: ['FP32', 'FP64'],
        optional,
      };
}
