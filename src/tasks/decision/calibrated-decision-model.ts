import type { EngineError, InferOptions } from '../../native/engine';
import {
  type DecisionTemperatures,
  temperedProbabilities,
} from '../calibration/decision-calibration';
import type { ModelMetadata } from '../predictor';
import type { Decision, DecisionModel, DecisionRequest } from './questions';

/** A decision model whose probabilities are calibrated on labeled examples. */
export class CalibratedDecisionModel implements DecisionModel {
  readonly #model: DecisionModel;
  readonly #temperatures: DecisionTemperatures;

  constructor(model: DecisionModel, temperatures: DecisionTemperatures) {
    this.#model = model;
    this.#temperatures = temperatures;
  }

  get metadata(): ModelMetadata {
    return this.#model.metadata;
  }

  get readsWindows(): boolean {
    return this.#model.readsWindows;
  }

  admissionError(timeoutMs: number): EngineError | null {
    return this.#model.admissionError(timeoutMs);
  }

  async decide(request: DecisionRequest, options: InferOptions): Promise<Decision> {
    const { answers, inferences } = await this.#model.decide(request, options);
    return {
      answers: answers.map((answer, index) => {
        const type = request.questions[index]?.type ?? 'choice';
        const { probabilities } = answer;
        return {
          ...answer,
          probabilities: temperedProbabilities(probabilities, this.#temperatures[type]),
        };
      }),
      inferences,
    };
  }
}
