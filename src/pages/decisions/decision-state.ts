import { batch, computed, signal } from '@preact/signals';
import { DecideClient, type DecideResponse, type QuestionInput } from '../../client';
import { createRequest } from '../shared/request-state';
import { missingInput, questions, toInput } from './questions';

export type StateFormat = 'text' | 'json';
export type TruncationSide = 'default' | 'left' | 'right';

export const state = signal('');
export const format = signal<StateFormat>('text');
export const truncationSide = signal<TruncationSide>('default');

/** Problem of a JSON state; null: valid, or a text. */
export const stateProblem = computed(() =>
  format.value === 'json' && state.value.trim() !== '' ? findJsonProblem(state.value) : null,
);

/** Client that sends a JSON state as the user wrote it: JavaScript would change numbers such as 1.0. */
class StateClient extends DecideClient {
  async decideJson(
    stateJson: string,
    questions: readonly QuestionInput[],
    side: TruncationSide,
  ): Promise<DecideResponse> {
    const rest = { questions, ...(side !== 'default' && { truncation_side: side }) };
    return this.call('/decide', `{"state":${stateJson},${JSON.stringify(rest).slice(1)}`);
  }
}

export const decision = createRequest(
  StateClient,
  () => {
    const isComplete = questions.value.every((question) => missingInput(question) === null);
    if (state.value.trim() === '' || stateProblem.value !== null) return null;
    if (questions.value.length === 0 || !isComplete) return null;
    return {
      stateJson: format.value === 'json' ? state.value : JSON.stringify(state.value),
      questions: questions.value.map(toInput),
      side: truncationSide.value,
    };
  },
  (client, { stateJson, questions, side }) => client.decideJson(stateJson, questions, side),
);

/** Replaces the whole form. */
export function fillForm(example: {
  readonly state: string;
  readonly format: StateFormat;
  readonly questions: typeof questions.value;
}): void {
  batch(() => {
    state.value = example.state;
    format.value = example.format;
    questions.value = example.questions;
    truncationSide.value = 'default';
  });
}

function findJsonProblem(text: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `The state is not valid JSON: ${(error as Error).message}`;
  }
  const isText = typeof value === 'string';
  if (isText || (typeof value === 'object' && value !== null)) return null;
  return 'The state must be a JSON object, array or string.';
}
