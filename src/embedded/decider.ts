import path from 'node:path';
import type { SchedulingOptions } from '../native/engine';
import { configFromOptions } from '../settings/config';
import { type DecisionAnswer, toAnswer } from '../tasks/decision/answers';
import { findTextProblem, type Problem, pathText } from '../tasks/decision/problems';
import {
  findQuestionsProblem,
  type QuestionInput,
  type TextOrJson,
  toQuestion,
} from '../tasks/decision/question-input';
import type { DecisionModel } from '../tasks/decision/questions';
import { type QuestionResult, resultOf } from '../tasks/decision/results';
import { textOf } from '../tasks/decision/texts';
import { createDecisionModel } from '../tasks/decision-models';
import { matchTasks } from '../tasks/registry';
import type { TaskModel } from '../tasks/task-model';
import {
  type EngineOptions,
  environment,
  InputError,
  loaded,
  loadTexts,
  type RunOptions,
} from './engine';

export interface DeciderOptions
  extends EngineOptions,
    Pick<SchedulingOptions, 'dtype' | 'attentionDtype'> {
  /** Folder of a model that answers questions, such as an NLI model of transformers. */
  readonly modelDirectory: string;
}

export interface DecideOptions extends RunOptions {
  /** End of a long state that is removed. Default: left for an array, right for other states. */
  readonly truncationSide?: 'left' | 'right';
  /** Read a long state in overlapping windows (Laya models). Default: `truncate`. */
  readonly longStates?: 'truncate' | 'windows';
}

/** Model that answers typed questions about a text. Load it once and call `close` to release it. */
export class Decider {
  /** Decimals of the numbers in an answer; null: they are not rounded. */
  readonly decimals = null;
  readonly #model: TaskModel;
  readonly #decisions: DecisionModel;

  private constructor(model: TaskModel, decisions: DecisionModel) {
    this.#model = model;
    this.#decisions = decisions;
  }

  /**
   * Loads the model.
   *
   * @throws ConfigError if an option is invalid; EngineError MODEL_LOAD_FAILED, whose message names the file and the
   *   key, also if the model does not answer questions
   */
  static load({ modelDirectory, ...options }: DeciderOptions): Promise<Decider> {
    const { scheduling } = configFromOptions('sentiment', options, environment());
    return loaded(async () => {
      const [match] = matchTasks(path.resolve(modelDirectory));
      if (!match) throw new Error('modelDirectory: expected a folder with a model, found none');
      const [task, place] = match;
      const model = (await loadTexts(task, place, scheduling)) as TaskModel;
      const decisions = createDecisionModel(task, model);
      if (decisions) return new Decider(model, decisions);
      await model.close();
      throw new Error(
        `modelDirectory: expected a model that answers questions, the task is ${task.name}`,
      );
    });
  }

  /**
   * Answers questions about a state, as one request to the queue.
   *
   * @param state a text, or JSON that the model reads as text
   * @returns answers in the order of the questions; numbers are not rounded
   * @throws EngineError with the `index` of a question that leaves no tokens for the state, InputError
   */
  async decide(
    state: TextOrJson,
    questions: readonly QuestionInput[],
    { truncationSide, longStates, ...run }: DecideOptions = {},
  ): Promise<readonly DecisionAnswer[]> {
    requireValid('state', findTextProblem(state));
    requireValid('questions', findQuestionsProblem(questions));
    const request = {
      state: textOf(state),
      truncationSide: truncationSide ?? (Array.isArray(state) ? 'left' : 'right'),
      questions: questions.map(toQuestion),
      inWindows: longStates === 'windows',
    } as const;
    if (request.inWindows && !this.#decisions.readsWindows) {
      throw new InputError('longStates: the model reads no windows', null);
    }
    const { answers } = await this.#decisions.decide(request, run);
    return questions.map((question, index) => {
      const { type } = request.questions[index] as (typeof request.questions)[number];
      const answer = answers[index] as (typeof answers)[number];
      return toAnswer(question, resultOf({ type }, answer) as QuestionResult);
    });
  }

  /**
   * Finishes accepted requests, rejects new requests (DRAINING), stops the threads, and releases the model.
   */
  close(): Promise<void> {
    return this.#model.close();
  }
}

/** @throws InputError */
function requireValid(field: string, problem: Problem | null): void {
  if (!problem) return;
  throw new InputError(`${field}${pathText(problem)}: ${problem.message}`, null);
}
