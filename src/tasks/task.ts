import type { z } from 'zod';
import type { Inference, ModelDescription, ModelSource, NativeInput } from '../native/engine';
import type { Capability, ModelMetadata, Prediction } from './capabilities';
import type { Tensors } from './tensors';
import type { TokenRecipe } from './token-recipe';

/**
 * Descriptor of a task. Each task has a folder next to this file and an entry in registry.ts.
 *
 * @typeParam Input input in the form of protocols and files
 * @typeParam Answer prediction for one input
 * @typeParam Metadata contents of the model files, read before the model is loaded
 */
export interface Task<
  Input = unknown,
  Answer = Prediction,
  Metadata extends ModelMetadata = ModelMetadata,
> {
  /** Name of the pipeline of transformers, if it has one. */
  readonly name: string;
  /** Sentence for the OpenAPI document. */
  readonly summary: string;
  /** Warning that precedes every description of the task; null: no warning. */
  readonly disclaimer: string | null;
  /** Texts are tokenized and computed in DTYPE. Signals are computed in float32. */
  readonly inputKind: 'texts' | 'signals';
  /** Interfaces that models of the task offer to protocols. */
  readonly capabilities: readonly Capability[];
  /** Folder or file of the model at a path; null: no model of this task. */
  resolveModelPath(place: string): string | null;
  /** Models of this task in a folder: the folder, or files in it. A valid folder has a single model. */
  findModelPaths(folder: string): readonly string[];
  /**
   * Whether model files that fit several tasks declare this task, so that no configuration is needed; undefined:
   * they never do. @throws ModelFileError
   */
  isDeclaredFor?(place: string): boolean;
  /** Absolute paths of the existing files of a model. @throws ModelFileError */
  listFiles(place: string): readonly string[];
  /** Reads all files of a model except the weights. @throws ModelFileError */
  read(place: string): { readonly source: ModelSource; readonly metadata: Metadata };
  /**
   * Validates the loaded model against its files.
   *
   * @returns warnings, for the log
   * @throws ModelFileError: the model does not match its files
   */
  validateLoaded(
    description: ModelDescription,
    metadata: Metadata,
    place: string,
  ): readonly string[];
  /** Length of an input, for `Predictor.maxLength`. Default: the maximum length of the model. */
  inputLength?(metadata: Metadata): number;
  /** Converts an input to the input of the engine, or to texts whose tokens become the input of the engine. */
  prepare(input: Input, metadata: Metadata): NativeInput | TokenRecipe;
  /**
   * @param index index of the input in a list, for the error; null: a single input
   * @param input argument of `prepare`
   * @throws EngineError INFERENCE_FAILED: the model outputs are invalid
   */
  toPrediction(
    inference: Inference,
    metadata: Metadata,
    index: number | null,
    input: Input,
  ): Answer;
  /** Fields of the log line of a loaded model, in addition to its kernels. */
  logFields(metadata: Metadata): object;
  /** Fields of `model` in `GET /info`, present once the model is loaded, and their schemas. */
  readonly info: {
    readonly schemas: z.ZodRawShape;
    of(metadata: Metadata, description: ModelDescription): object;
  };
  /** Inputs and outputs in the Open Inference Protocol. */
  readonly tensors: Tensors<Input, Answer, Metadata>;
  /** Name of the page in src/pages; null: no page. */
  readonly page: string | null;
}
