import { ServiceError } from '../../../errors';
import type { EngineError, EngineMonitor, InferOptions } from '../../../native/engine';
import type { TextClassifier } from '../../../sentiment/text-classifier';
import { isBlank } from '../../../sentiment/whitespace';
import { checkElements, type EndpointLimits, namingElement } from '../../routes/endpoint';
import { readTexts } from './contents';
import {
  elementsOf,
  type InputSpecification,
  type Model,
  type ModelAnswer,
  takeInputs,
} from './model';
import type { InferRequest, InputTensor, TensorMetadata } from './tensor';

const TEXT = 'TEXT';

/** Texts to their labels. */
export class TextModel implements Model {
  readonly inputs: readonly InputSpecification[] = [
    {
      metadata: { name: TEXT, datatype: 'BYTES', shape: [-1] },
      datatypes: ['BYTES'],
      optional: false,
    },
  ];
  readonly outputs: readonly TensorMetadata[];
  readonly classified = 'PROBABILITIES';
  readonly #mostElements: number;
  readonly #classifier: TextClassifier;

  constructor(classifier: TextClassifier, { listLength }: EndpointLimits) {
    this.#classifier = classifier;
    this.#mostElements = listLength;
    this.outputs = [
      { name: 'LABEL', datatype: 'BYTES', shape: [-1] },
      { name: 'SCORE', datatype: 'FP32', shape: [-1] },
      { name: this.classified, datatype: 'FP32', shape: [-1, this.labels.length] },
    ];
  }

  get labels(): readonly string[] {
    return this.#classifier.labels;
  }

  get monitor(): EngineMonitor {
    return this.#classifier.monitor;
  }

  refusal(timeoutMs: number): EngineError | null {
    return this.#classifier.refusal(timeoutMs);
  }

  async infer(request: InferRequest, options: () => InferOptions): Promise<ModelAnswer> {
    const input = takeInputs(request.inputs, this.inputs).get(TEXT) as InputTensor;
    elementsOf(input, [[], [1]], this.#mostElements);
    const texts = readTexts(input);
    checkElements(texts, TEXT, requireText);
    const answers = await namingElement(TEXT, this.#classifier.classifyAll(texts, options()));
    const count = answers.length;
    const scores = new Float32Array(count * this.labels.length);
    for (const [index, answer] of answers.entries()) {
      scores.set(answer.scores, index * this.labels.length);
    }
    return {
      outputs: [
        {
          name: 'LABEL',
          datatype: 'BYTES',
          shape: [count],
          values: answers.map(({ label }) => label),
        },
        {
          name: 'SCORE',
          datatype: 'FP32',
          shape: [count],
          values: Float32Array.from(answers, ({ score }) => score),
        },
        {
          name: this.classified,
          datatype: 'FP32',
          shape: [count, this.labels.length],
          values: scores,
        },
      ],
      inferences: answers.map(({ inference }) => inference),
    };
  }
}

function requireText(text: string): void {
  if (isBlank(text)) throw new ServiceError('INPUT_EMPTY', 'Text payload cannot be empty.');
}
