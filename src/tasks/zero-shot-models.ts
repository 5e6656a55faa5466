import { sigmoid, softmax } from '../lib/numbers';
import { EngineError, type InferOptions } from '../native/engine';
import { withIndex } from '../native/engine-error';
import type { EntailmentClassifier } from './capabilities';
import type { GliclassInput } from './decision/gliclass-prompt';
import { type GliclassModelMetadata, gliclass } from './decision/gliclass-task';
import type { OptionLogits } from './decision/option-logits';
import type { Predictor } from './predictor';
import type { Task } from './task';
import type { TaskModel } from './task-model';
import { hypothesisOf, rankByScore } from './zero-shot/classify';
import { NliClassifier } from './zero-shot/nli-classifier';
import type { ZeroShotAnswers, ZeroShotClassifier } from './zero-shot/zero-shot-classifier';

type GliclassModel = Predictor<GliclassInput, OptionLogits, GliclassModelMetadata>;

/** Zero-shot classification with a GLiClass model: one input for each text, with all labels. */
class GliclassClassifier implements ZeroShotClassifier {
  readonly #model: GliclassModel;

  constructor(model: GliclassModel) {
    this.#model = model;
  }

  get metadata(): GliclassModelMetadata {
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
    const { texts, template, isMultiLabel } = request;
    const labels =
      template === null
        ? request.labels
        : request.labels.map((label) => hypothesisOf(template, label));
    const inputs = texts.map(
      (text): GliclassInput => ({ text, labels, prompt: null, truncationSide: 'right' }),
    );
    const predictions = await this.#model.runAll(inputs, options).catch(withoutIndex);
    const scores = isMultiLabel ? sigmoid : softmax;
    return {
      answers: predictions.map(({ logits }) => rankByScore(request.labels, scores(logits))),
      isTruncated: predictions.map(({ inference }) => inference.truncated),
      inferences: predictions.map(({ inference }) => inference),
    };
  }
}

/** All labels together leave no tokens for a text, not a single label. */
function withoutIndex(error: unknown): never {
  throw error instanceof EngineError && error.index !== null ? withIndex(error, null) : error;
}

/** The zero-shot classifier of a loaded model of a task with this capability; null: another model. */
export function createZeroShotClassifier(task: Task, model: TaskModel): ZeroShotClassifier | null {
  if (!task.capabilities.includes('zero-shot')) return null;
  return task === (gliclass as unknown as Task)
    ? new GliclassClassifier(model as unknown as GliclassModel)
    : new NliClassifier(model as unknown as EntailmentClassifier);
}
