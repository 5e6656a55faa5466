import { EngineError, type InferOptions } from '../../native/engine';
import { withIndex } from '../../native/engine-error';
import type { EntailmentClassifier, EntailmentMetadata } from '../capabilities';
import { classifyZeroShot, TEMPLATE } from './classify';
import type { ZeroShotAnswers, ZeroShotClassifier } from './zero-shot-classifier';

/** Zero-shot classification with an NLI model: a text pair for each text and label. */
export class NliClassifier implements ZeroShotClassifier {
  readonly #model: EntailmentClassifier;

  constructor(model: EntailmentClassifier) {
    this.#model = model;
  }

  get metadata(): EntailmentMetadata {
    return this.#model.metadata;
  }

  get maxLength(): number {
    return this.#model.maxLength;
  }

  admissionError(timeoutMs: number): EngineError | null {
    return this.#model.admissionError(timeoutMs);
  }

  async classifyLabels(
    request: Parameters<ZeroShotClassifier['classifyLabels']>[0],
    options: InferOptions,
  ): Promise<ZeroShotAnswers> {
    const { texts, labels } = request;
    const template = request.template ?? TEMPLATE;
    try {
      const result = await classifyZeroShot(this.#model, { ...request, template }, options);
      const isTruncated = texts.map((_, index) => {
        const pairs = result.inferences.slice(index * labels.length, (index + 1) * labels.length);
        return pairs.some(({ truncated }) => truncated);
      });
      return { ...result, isTruncated };
    } catch (error) {
      if (!(error instanceof EngineError) || error.index === null) throw error;
      throw withIndex(error, error.index % labels.length);
    }
  }
}
