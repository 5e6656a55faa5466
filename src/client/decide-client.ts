import type { DecideResponse, QuestionInput, TextOrJson } from '../protocols/own/decide';
import type { ServiceInfo } from '../protocols/own/info';
import { Client } from './client';
import type { CallOptions } from './retry';

export interface DecideOptions extends CallOptions {
  /** End of a long state that is removed. Default: left for an array, right for other states. */
  readonly truncationSide?: 'left' | 'right';
  /** Read a long state in overlapping windows (Laya models). Default: `truncate`. */
  readonly longStates?: 'truncate' | 'windows';
}

/** Client of a model that answers questions: `http://localhost:8000/models/NAME`. */
export class DecideClient extends Client<ServiceInfo> {
  /** Decimals of the numbers in an answer. */
  readonly decimals = 4;

  /**
   * @param state a text, or JSON that the model reads as text
   * @returns answers in the order of the questions
   */
  async decide(
    state: TextOrJson,
    questions: readonly QuestionInput[],
    options: DecideOptions = {},
  ): Promise<DecideResponse['answers']> {
    const { truncationSide: truncation_side, longStates: long_states } = options;
    const body = { state, questions, truncation_side, long_states };
    return (await this.call<DecideResponse>('/decide', body, options)).answers;
  }
}
