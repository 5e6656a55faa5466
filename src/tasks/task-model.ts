import { mapInTimeSlices } from '../lib/time-slice';
import {
  Engine,
  type EngineError,
  type EngineMonitor,
  type Inference,
  type InferOptions,
  type NativeInput,
  type SchedulingOptions,
  type Vocabulary,
} from '../native/engine';
import type {
  BatchPredictor,
  InferenceCallbacks,
  ModelMetadata,
  Prediction,
  Predictor,
  TextTokenizer,
} from './capabilities';
import type { Task } from './task';
import { runRecipe, runRecipes, type TokenRecipe } from './token-recipe';

/** A loaded model: an engine with the pre- and postprocessing of its task. */
export class TaskModel<
  Input = unknown,
  Answer = Prediction,
  Metadata extends ModelMetadata = ModelMetadata,
> implements Predictor<Input, Answer, Metadata>, BatchPredictor<Input, Answer>, TextTokenizer
{
  readonly metadata: Metadata;
  readonly loadedAt = new Date();
  /** Warnings for the log about a model that works, but probably not as intended. */
  readonly warnings: readonly string[];
  readonly #task: Task<Input, Answer, Metadata>;
  readonly #engine: Engine;

  private constructor(
    task: Task<Input, Answer, Metadata>,
    engine: Engine,
    { metadata, warnings }: { readonly metadata: Metadata; readonly warnings: readonly string[] },
  ) {
    this.#task = task;
    this.#engine = engine;
    this.metadata = metadata;
    this.warnings = warnings;
  }

  /**
   * Loads the model of a folder or file.
   *
   * @param files result of `Task.read`, if another thread has read the files
   * @throws ModelFileError, EngineError with code MODEL_LOAD_FAILED
   */
  static async load<Input, Answer, Metadata extends ModelMetadata>(
    task: Task<Input, Answer, Metadata>,
    modelPath: string,
    scheduling: SchedulingOptions,
    files = task.read(modelPath),
  ): Promise<TaskModel<Input, Answer, Metadata>> {
    const { source, metadata } = files;
    const engine = await Engine.load(source, scheduling);
    try {
      const { description } = engine;
      const warnings = [
        ...description.warnings,
        ...task.validateLoaded(description, metadata, modelPath),
      ];
      return new TaskModel(task, engine, { metadata, warnings });
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /**
   * View of the model for another task. Both views share the engine: closing one closes both.
   */
  withTask<OtherInput, OtherAnswer, OtherMetadata extends ModelMetadata>(
    task: Task<OtherInput, OtherAnswer, OtherMetadata>,
    metadata: OtherMetadata,
  ): TaskModel<OtherInput, OtherAnswer, OtherMetadata> {
    return new TaskModel(task, this.#engine, { metadata, warnings: this.warnings });
  }

  get monitor(): EngineMonitor {
    return this.#engine;
  }

  get maxLength(): number {
    return this.#task.inputLength?.(this.metadata) ?? this.#engine.description.maxLength;
  }

  get vocabulary(): Vocabulary | null {
    return this.#engine.vocabulary;
  }

  async run(input: Input, options: InferOptions): Promise<Answer> {
    const prepared = this.#task.prepare(input, this.metadata);
    if (isTokenRecipe(prepared)) {
      return this.toPrediction(await runRecipe(prepared, this.#engine, options), input);
    }
    const inference = await this.#engine.infer(prepared, options);
    return this.toPrediction(inference, input);
  }

  async runAll(inputs: readonly Input[], options: InferOptions): Promise<readonly Answer[]> {
    const prepared = await mapInTimeSlices(inputs, (input) =>
      this.#task.prepare(input, this.metadata),
    );
    const inferences = prepared.every(isTokenRecipe)
      ? await runRecipes(prepared, this.#engine, options)
      : await this.#engine.inferAll(prepared as readonly NativeInput[], options);
    return mapInTimeSlices(inferences, (one, index) =>
      this.#task.toPrediction(one, this.metadata, index, inputs[index] as Input),
    );
  }

  tokenize(
    texts: readonly string[],
    addSpecialTokens: boolean,
    options: InferOptions,
  ): Promise<readonly Inference[]> {
    const omitSpecialTokens = !addSpecialTokens;
    const inputs = texts.map((text) => ({ text, onlyTokens: true, omitSpecialTokens }));
    return this.#engine.inferAll(inputs, options);
  }

  decode(
    lists: readonly (readonly number[])[],
    skipSpecialTokens: boolean,
  ): Promise<readonly (string | number)[]> {
    return this.#engine.decode(lists, skipSpecialTokens);
  }

  /** For tasks without token recipes. */
  prepare(input: Input): NativeInput {
    return this.#task.prepare(input, this.metadata) as NativeInput;
  }

  runEach(
    inputs: readonly NativeInput[],
    timeoutMs: number,
    callbacks: readonly InferenceCallbacks[],
  ): void {
    this.#engine.inferEach(inputs, timeoutMs, callbacks);
  }

  toPrediction(inference: Inference, input: Input): Answer {
    return this.#task.toPrediction(inference, this.metadata, null, input);
  }

  admissionError(timeoutMs: number): EngineError | null {
    return this.#engine.admissionError(timeoutMs);
  }

  /** See `Engine.setWeight`. */
  setWeight(weight: number): void {
    this.#engine.setWeight(weight);
  }

  /** See `Engine.drop`. */
  drop(): void {
    this.#engine.drop();
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

function isTokenRecipe(prepared: NativeInput | TokenRecipe): prepared is TokenRecipe {
  return typeof prepared === 'object' && 'compose' in prepared;
}
