import { sigmoid, softmax } from '../lib/numbers';
import { EngineError, type InferOptions } from '../native/engine';
import { withIndex } from '../native/engine-error';
import type { EntailmentClassifier } from './capabilities';
import type { GliclassInput } from './decision/gliclass-prompt';
import { gliclass } from './decision/gliclass-task';
import type { OptionLogits } from './decision/option-logits';
import type { ClassInput } from './gliner2/class-sequence';
import { CLASSIFICATION, isGliner2 } from './gliner2/gliner2-task';
import type { ModelMetadata, Predictor } from './predictor';
import type { Task } from './task';
import type { TaskModel } from './task-model';
import { hypothesisOf, rankByScore } from './zero-shot/classify';
import { NliClassifier } from './zero-shot/nli-classifier';
import type { ZeroShotAnswers, ZeroShotClassifier } from './zero-shot/zero-shot-classifier';

type LabelModel<Input> = Predictor<Input, OptionLogits, ModelMetadata>;

/** Zero-shot classification with a model that reads all labels at once: one input for each text. */
class LabelClassifier<Input> implements ZeroShotClassifier {
  readonly #model: LabelModel<Input>;
  readonly #toInput: (text: string, labels: readonly string[]) => Input;

  constructor(
    model: LabelModel<Input>,
    toInput: (text: string, labels: readonly string[]) => Input,
  ) {
    this.#model = model;
    this.#toInput = toInput;
  }

  get metadata(): ModelMetadata {
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
    const inputs = texts.map((text) => this.#toInput(text, labels));
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

function gliclassInput(text: string, labels: readonly string[]): GliclassInput {
  return { text, labels, prompt: null, truncationSide: 'right' };
}

function gliner2Input(text: string, labels: readonly string[]): ClassInput {
  const classes = labels.map((name) => ({ name, description: null }));
  return { text, truncationSide: 'right', task: CLASSIFICATION, instructions: null, classes };
}

/** The zero-shot classifier of a loaded model of a task with this capability; null: another model. */
export function createZeroShotClassifier(task: Task, model: TaskModel): ZeroShotClassifier | null {
  if (!task.capabilities.includes('zero-shot')) return null;
  if (task === (gliclass as unknown as Task)) {
    return new LabelClassifier(model as unknown as LabelModel<GliclassInput>, gliclassInput);
  }
  if (isGliner2(task)) {
    return new LabelClassifier(model as unknown as LabelModel<ClassInput>, gliner2Input);
  }
  return new NliClassifier(model as unknown as EntailmentClassifier);
}
