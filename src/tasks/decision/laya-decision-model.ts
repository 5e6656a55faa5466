import type { EngineError, InferOptions } from '../../native/engine';
import type { Predictor } from '../predictor';
import type { Task } from '../task';
import type { TaskModel } from '../task-model';
import { type LayaInput, layaTypeOf } from './laya-sequence';
import { type LayaModelMetadata, laya, layaProbabilities } from './laya-task';
import type { OptionLogits } from './option-logits';
import type { Decision, DecisionModel, DecisionRequest } from './questions';

type LayaModel = Predictor<LayaInput, OptionLogits, LayaModelMetadata>;

/** Creates the decision model of a Laya model; null: another model. */
export function createLayaDecisionModel(task: Task, model: TaskModel): DecisionModel | null {
  const isOwn = task === (laya as unknown as Task);
  return isOwn ? new LayaDecisionModel(model as unknown as LayaModel) : null;
}

class LayaDecisionModel implements DecisionModel {
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

  async decide(
    { state, truncationSide, questions }: DecisionRequest,
    options: InferOptions,
  ): Promise<Decision> {
    // Replaced here, the mask token costs a copy of the state only once.
    const clean = state.replaceAll(this.metadata.tokens.mask, ' ');
    const inputs = questions.map((question) => ({ state: clean, truncationSide, question }));
    const predictions = await this.#model.runAll(inputs, options);
    const answers = predictions.map(({ logits, inference }, index) => {
      const type = layaTypeOf((inputs[index] as LayaInput).question);
      return {
        probabilities: [...layaProbabilities(logits, type, this.metadata)],
        isTruncated: inference.truncated,
      };
    });
    return { answers, inferences: predictions.map(({ inference }) => inference) };
  }
}
