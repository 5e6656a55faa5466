import path from 'node:path';
import { findDtypeProblem } from '../native/addon';
import { EngineError, type SchedulingOptions } from '../native/engine';
import { readEnvironment } from '../settings/environment';
import type {
  Classification,
  ClassifierMetadata,
  ModelMetadata,
  Prediction,
} from '../tasks/capabilities';
import type { Task } from '../tasks/task';
import { TaskModel } from '../tasks/task-model';

export const PACKAGE_ROOT = path.resolve(__dirname, '..', '..');

/** How an engine may use the machine; defaults, and what they mean, as in the settings of the services. */
export type EngineOptions = Partial<Omit<SchedulingOptions, 'dtype' | 'attentionDtype' | 'share'>>;

export interface RunOptions {
  /** Aborted: what has not begun to run is dropped, with CANCELLED. */
  readonly signal?: AbortSignal;
  /** From now, in ms: what has not begun to run by then is dropped, with DEADLINE_EXCEEDED. */
  readonly timeoutMs?: number;
}

/** An input that no model can take. `index`: its place in a list. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly code = 'INPUT_INVALID';
  readonly index: number | null;

  constructor(message: string, index: number | null) {
    super(index === null ? message : `[${index}]: ${message}`);
    this.index = index;
  }
}

/** A loaded model; `close` when it is no longer needed. */
export abstract class ModelEngine<
  Input,
  Answer extends Prediction,
  Metadata extends ModelMetadata,
> {
  protected readonly model: TaskModel<Input, Answer, Metadata>;

  protected constructor(model: TaskModel<Input, Answer, Metadata>) {
    this.model = model;
  }

  /** Answers what was accepted, refuses what comes (DRAINING), ends the threads, frees the model. */
  close(): Promise<void> {
    return this.model.close();
  }
}

/** A classifier behind the check of its inputs. */
export abstract class ClassifierEngine<Given, Input, Result> extends ModelEngine<
  Input,
  Classification,
  ClassifierMetadata
> {
  readonly #toInput: (given: Given, index: number | null) => Input;
  readonly #toResult: (answer: Classification) => Result;

  /** @param toInput throws InputError, with the index in a list */
  protected constructor(
    model: TaskModel<Input, Classification, ClassifierMetadata>,
    toInput: (given: Given, index: number | null) => Input,
    toResult: (answer: Classification) => Result,
  ) {
    super(model);
    this.#toInput = toInput;
    this.#toResult = toResult;
  }

  /**
   * @param input of an EEG engine: `windowLength` finite values, in any linear unit: it is z-normalized
   * @throws EngineError, InputError
   */
  async classify(input: Given, options: RunOptions = {}): Promise<Result> {
    const taken = this.#toInput(input, null);
    return this.#toResult(await this.model.run(taken, options));
  }

  /**
   * @returns in the order of the inputs
   * @throws EngineError, InputError: with the index of the input at fault. Where the queue has no room
   *   for all of them (QUEUE_FULL), none is run.
   */
  async classifyBatch(
    inputs: readonly Given[],
    options: RunOptions = {},
  ): Promise<readonly Result[]> {
    const taken = inputs.map((input, index) => this.#toInput(input, index));
    const answers = await this.model.runAll(taken, options);
    return answers.map((answer) => this.#toResult(answer));
  }
}

/**
 * Loads the model of a directory of texts.
 *
 * @throws EngineError with code MODEL_LOAD_FAILED, whose message names the file and the key at fault
 */
export function loadTexts<Input, Answer extends Prediction, Metadata extends ModelMetadata>(
  task: Task<Input, Answer, Metadata>,
  directory: string,
  scheduling: SchedulingOptions,
): Promise<TaskModel<Input, Answer, Metadata>> {
  return loaded(async () => {
    const { dtype, attentionDtype } = scheduling;
    const problem = findDtypeProblem(dtype ?? 'float32', attentionDtype);
    if (problem) throw new Error(problem);
    return TaskModel.load(task, directory, scheduling);
  });
}

export const environment = () => readEnvironment(PACKAGE_ROOT);

/** @throws EngineError with code MODEL_LOAD_FAILED, whatever was wrong */
export async function loaded<Model>(load: () => Promise<Model>): Promise<Model> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError('MODEL_LOAD_FAILED', (error as Error).message);
  }
}

export function byName(
  names: readonly string[],
  values: Float32Array,
): Readonly<Record<string, number>> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] as number]));
}
