import type { EngineError, EngineMonitor, InferOptions } from '../../native/engine';
import type { EegClassifier } from '../../tasks/signal-classification/eeg-classifier';
import { type EndpointLimits, namingElement } from '../endpoint';
import { readNumbers } from './contents';
import {
  elementsOf,
  type InputSpecification,
  type Model,
  type ModelAnswer,
  outputsOf,
  takeInputs,
} from './model';
import type { InferRequest, InputTensor, TensorMetadata } from './tensor';

const SIGNAL = 'SIGNAL';

/** Windows, z-normalized here, to their classes. */
export class SignalModel implements Model {
  readonly inputs: readonly InputSpecification[];
  readonly outputs: readonly TensorMetadata[];
  readonly labels: readonly string[];
  readonly classified = 'PROBABILITIES';
  readonly #mostElements: number;
  readonly #classifier: EegClassifier;
  readonly #windowLength: number;

  constructor(classifier: EegClassifier, { listLength }: EndpointLimits) {
    const { classes, windowLength } = classifier.settings;
    this.#classifier = classifier;
    this.#windowLength = windowLength;
    this.labels = classes;
    this.#mostElements = listLength;
    this.inputs = [
      {
        metadata: { name: SIGNAL, datatype: 'FP32', shape: [-1, windowLength] },
        datatypes: ['FP32', 'FP64'],
        optional: false,
      },
    ];
    this.outputs = [
      { name: 'DIAGNOSIS', datatype: 'BYTES', shape: [-1] },
      { name: 'CONFIDENCE', datatype: 'FP32', shape: [-1] },
      { name: this.classified, datatype: 'FP32', shape: [-1, classes.length] },
    ];
  }

  get monitor(): EngineMonitor {
    return this.#classifier.monitor;
  }

  refusal(timeoutMs: number): EngineError | null {
    return this.#classifier.refusal(timeoutMs);
  }

  async infer(request: InferRequest, options: () => InferOptions): Promise<ModelAnswer> {
    const input = takeInputs(request.inputs, this.inputs).get(SIGNAL) as InputTensor;
    const windows = this.#readWindows(input);
    const running = this.#classifier.classifyAll(windows, options());
    const answers = await namingElement(SIGNAL, running);
    const classified = answers.map(({ diagnosis, confidence, probabilities }) => ({
      label: diagnosis,
      score: confidence,
      scores: probabilities,
    }));
    return {
      outputs: outputsOf(this, classified),
      inferences: answers.map(({ inference }) => inference),
    };
  }

  #readWindows(input: InputTensor): readonly (readonly number[])[] {
    const length = this.#windowLength;
    const count = elementsOf(input, [[length], [1, length]], this.#mostElements);
    const values = readNumbers(input, input.datatype as 'FP32' | 'FP64');
    // Plain arrays, as those of JSON: z-normalization has been compiled for them.
    return Array.from({ length: count }, (_, index) =>
      Array.from(values.slice(index * length, (index + 1) * length)),
    );
  }
}
