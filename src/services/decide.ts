import { EngineError, type Inference } from '../native/engine';
import { ElementError, ServiceError } from '../serving/errors';
import type { ServiceRequest } from '../serving/service-request';
import type { DecisionModel, DecisionRequest, Question } from '../tasks/decision/questions';
import { type QuestionResult, resultOf } from '../tasks/decision/results';
import type { ServedModel } from '../tasks/served-model';
import { requireModel } from './inference';

/** Questions about a state. */
export interface DecideRequest extends DecisionRequest {
  /** Location of a question in the body, for errors. */
  readonly pathOf: (index: number) => string;
  /** Maximum number of options and levels of all questions together. */
  readonly listLength: number;
}

/**
 * Answers typed questions about a state, as one request to the queue.
 *
 * @returns results in the order of the questions, before rounding; tokens that the model read
 * @throws ServiceError MODEL_NOT_LOADED, LIST_TOO_LONG; EngineError; ElementError: a question leaves no tokens for the
 *   state
 */
export async function decide(
  caller: Pick<ServiceRequest, 'inferOptions'>,
  served: ServedModel<DecisionModel>,
  { pathOf, listLength, ...request }: DecideRequest,
): Promise<{
  readonly results: readonly QuestionResult[];
  readonly tokens: number;
  readonly inferences: readonly Inference[];
}> {
  const model = requireModel(served.model);
  requireOptionCount(request.questions, listLength);
  if (request.inWindows && !model.readsWindows) {
    const message = 'long_states: the model reads no windows. Use "truncate"';
    throw new ServiceError('BODY_INVALID', message);
  }
  try {
    const { answers, inferences } = await model.decide(request, caller.inferOptions(served));
    const results = answers.map((answer, index) =>
      resultOf(request.questions[index] as Question, answer),
    );
    const tokens = inferences.reduce((sum, inference) => sum + inference.tokens, 0);
    return { results, tokens, inferences };
  } catch (error) {
    const index = error instanceof EngineError ? error.index : null;
    throw index === null ? error : new ElementError(pathOf(index), error as Error);
  }
}

/** @throws ServiceError LIST_TOO_LONG */
function requireOptionCount(questions: readonly Question[], listLength: number): void {
  const count = questions.reduce((sum, question) => sum + optionCount(question), 0);
  if (count <= listLength) return;
  const message = `questions: ${count} options and levels in total exceed the limit of ${listLength}.`;
  throw new ServiceError('LIST_TOO_LONG', message);
}

function optionCount(question: Question): number {
  if (question.type === 'predicate') return 2;
  return question.type === 'choice' ? question.options.length : question.levels.length;
}
