import { roundToFourDecimals } from '../../lib/numbers';
import { EngineError, type Inference, type InferOptions } from '../../native/engine';
import { withIndex } from '../../native/engine-error';
import { remainingOptions } from '../remaining-options';
import type { Task } from '../task';
import type { TaskModel } from '../task-model';
import { type LayaInput, layaTypeOf } from './laya-sequence';
import { type LayaModelMetadata, type LayaPrediction, laya, layaProbabilities } from './laya-task';
import { layaWindows } from './laya-windows';
import type {
  Decision,
  DecisionModel,
  DecisionRequest,
  Question,
  QuestionAnswer,
} from './questions';

/** Windows that are queued at a time. Other requests run between these groups. */
const WINDOWS_PER_REQUEST = 32;

type LayaModel = TaskModel<LayaInput, LayaPrediction, LayaModelMetadata>;

/** Creates the decision model of a Laya model; null: another model. */
export function createLayaDecisionModel(task: Task, model: TaskModel): DecisionModel | null {
  const isOwn = task === (laya as unknown as Task);
  return isOwn ? new LayaDecisionModel(model as unknown as LayaModel) : null;
}

class LayaDecisionModel implements DecisionModel {
  readonly readsWindows = true;
  readonly #model: LayaModel;

  constructor(model: LayaModel) {
    this.#model = model;
  }

  get metadata(): LayaModelMetadata {
    return this.#model.metadata;
  }

  admissionError(timeoutMs: number): EngineError | null {
    return this.#model.admissionError(timeoutMs);
  }

  async decide(request: DecisionRequest, options: InferOptions): Promise<Decision> {
    const { questions, truncationSide, inWindows } = request;
    const remaining = remainingOptions(options);
    // Replaced here, the mask token costs a copy of the state only once.
    const state = request.state.replaceAll(this.metadata.tokens.mask, ' ');
    const windows = inWindows
      ? await layaWindows(this.#model, state, questions, remaining())
      : null;
    if (windows === null) {
      const inputs = questions.map((question) => ({ state, truncationSide, question }));
      return this.#run(inputs, remaining());
    }
    const read: Decision[] = [];
    for (let first = 0; first < windows.length; first += WINDOWS_PER_REQUEST) {
      read.push(
        await this.#runWindows(
          windows.slice(first, first + WINDOWS_PER_REQUEST),
          questions,
          remaining(),
        ),
      );
    }
    const answers = read.flatMap((one) => one.answers);
    return {
      answers: questions.map((question, index) =>
        decidingAnswer(
          question,
          answers.filter((_, place) => place % questions.length === index),
        ),
      ),
      inferences: read.flatMap(({ inferences }) => inferences),
    };
  }

  /** Answers to all questions about the first window, then about the second window, and so on. */
  async #runWindows(
    windows: readonly string[],
    questions: readonly Question[],
    options: InferOptions,
  ): Promise<Decision> {
    const inputs = windows.flatMap((state) =>
      questions.map((question) => ({ state, truncationSide: 'right' as const, question })),
    );
    try {
      return await this.#run(inputs, options);
    } catch (error) {
      if (!(error instanceof EngineError) || error.index === null) throw error;
      throw withIndex(error, error.index % questions.length);
    }
  }

  async #run(inputs: readonly LayaInput[], options: InferOptions): Promise<Decision> {
    const predictions = await this.#model.runAll(inputs, options);
    const answers = predictions.map(({ logits, actProbability, inference }, index) => {
      const type = layaTypeOf((inputs[index] as LayaInput).question);
      return {
        probabilities: [...layaProbabilities(logits, type, this.metadata)],
        isTruncated: inference.truncated,
        actProbability,
      };
    });
    return { answers, inferences: predictions.map(({ inference }): Inference => inference) };
  }
}

/**
 * The answer of the window that decides: of a statement the one with the highest probability, of other questions the
 * most certain one. Of equal ones the first. laya compares rounded numbers (agent.py, `predict_long`).
 */
function decidingAnswer(question: Question, answers: readonly QuestionAnswer[]): QuestionAnswer {
  const scores = answers.map(({ probabilities }) => {
    const isStatement = question.type === 'predicate';
    const score = isStatement ? (probabilities[1] as number) : Math.max(...probabilities);
    return roundToFourDecimals(score);
  });
  const window = scores.indexOf(Math.max(...scores));
  return { ...(answers[window] as QuestionAnswer), window };
}
