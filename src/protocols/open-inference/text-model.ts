import type { EngineError, EngineMonitor, InferOptions, TextInput } from '../../native/engine';
import { ServiceError } from '../../serving/errors';
import type { TextClassifier } from '../../tasks/text-classification/text-classifier';
import { isBlank } from '../../tasks/text-classification/whitespace';
import { checkElements, type EndpointLimits, namingElement } from '../endpoint';
import { readTexts } from './contents';
import {
  elementsOf,
  type InputSpecification,
  type Model,
  type ModelAnswer,
  outputsOf,
  takeInputs,
} from './model';
import type { InferRequest, InputTensor, TensorMetadata } from './tensor';

const TEXT = 'TEXT';
const TEXT_PAIR = 'TEXT_PAIR';
/** Behind the first axis, that of the elements. */
const SHAPES = [[], [1]];

/** Texts, or pairs of them, to their labels. */
export class TextModel implements Model {
  readonly inputs: readonly InputSpecification[] = [
    {
      metadata: { name: TEXT, datatype: 'BYTES', shape: [-1] },
      datatypes: ['BYTES'],
      optional: false,
    },
    {
      metadata: { name: TEXT_PAIR, datatype: 'BYTES', shape: [-1] },
      datatypes: ['BYTES'],
      optional: true,
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
    const texts = this.#readTexts(takeInputs(request.inputs, this.inputs));
    const answers = await namingElement(TEXT, this.#classifier.classifyAll(texts, options()));
    return {
      outputs: outputsOf(this, answers),
      inferences: answers.map(({ inference }) => inference),
    };
  }

  #readTexts(inputs: ReadonlyMap<string, InputTensor>): readonly (string | TextInput)[] {
    const first = inputs.get(TEXT) as InputTensor;
    const count = elementsOf(first, SHAPES, this.#mostElements);
    const second = inputs.get(TEXT_PAIR);
    if (second && elementsOf(second, SHAPES, this.#mostElements) !== count) {
      throw new ServiceError(
        'BODY_INVALID',
        `${TEXT_PAIR}: expected ${count} elements, as ${TEXT}`,
      );
    }
    const texts = readTexts(first);
    checkElements(texts, TEXT, requireText);
    if (!second) return texts;
    const pairs = readTexts(second);
    return texts.map((text, index) => ({ text, pair: pairs[index] as string }));
  }
}

/** A second text may be blank: the pipeline of transformers reads it like any other. */
function requireText(text: string): void {
  if (isBlank(text)) throw new ServiceError('INPUT_EMPTY', 'Text payload cannot be empty.');
}
