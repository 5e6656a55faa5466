import path from 'node:path';
import type { SchedulingOptions } from '../native/engine';
import { configFromOptions } from '../settings/config';
import type {
  ClassifierMetadata,
  TokenClassification,
  TokenClassificationInput,
} from '../tasks/capabilities';
import { type Span, type Strategy, toSpans } from '../tasks/token-classification/spans';
import { tokenClassification } from '../tasks/token-classification/token-classification-task';
import {
  type EngineOptions,
  environment,
  InputError,
  loadTexts,
  ModelEngine,
  type RunOptions,
} from './engine';

export interface TaggerOptions
  extends EngineOptions,
    Pick<SchedulingOptions, 'dtype' | 'attentionDtype'> {
  /** Folder of a token classification model, written by `save_pretrained` of transformers. */
  readonly modelDirectory: string;
}

export interface TagOptions extends RunOptions {
  /**
   * `aggregation_strategy` of the transformers pipeline. Default: Viterbi decoding if the model has
   * it, otherwise simple.
   */
  readonly strategy?: Strategy;
  /** Labels to omit, as they appear in spans. Default: O. */
  readonly ignoreLabels?: readonly string[];
  /** Overlap of the windows of a long text, in tokens. Default: long texts are truncated. */
  readonly stride?: number;
}

/** Span of a text: `text.slice(start, end)`. The score is not rounded. */
export type TaggedSpan = Span;

export interface TagResult {
  readonly tags: readonly TaggedSpan[];
  /** Whether the text exceeded the maximum length and was truncated. */
  readonly truncated: boolean;
}

/**
 * Token classification model, equivalent to the `token-classification` pipeline. Load it once and
 * call `close` to release it.
 */
export class Tagger extends ModelEngine<
  TokenClassificationInput,
  TokenClassification,
  ClassifierMetadata
> {
  /**
   * Loads the model.
   *
   * @throws ConfigError if an option is invalid; EngineError MODEL_LOAD_FAILED, whose message names
   *   the file and the key
   */
  static async load({ modelDirectory, ...options }: TaggerOptions): Promise<Tagger> {
    const { scheduling } = configFromOptions('sentiment', options, environment());
    const folder = path.resolve(modelDirectory);
    return new Tagger(await loadTexts(tokenClassification, folder, scheduling));
  }

  /** Token labels, as config.json lists them. */
  get labels(): readonly string[] {
    return this.model.metadata.labels;
  }

  /** Maximum length of a text without windows, in tokens. */
  get maxLength(): number {
    return this.model.maxLength;
  }

  /**
   * Returns the spans of a text.
   *
   * @throws EngineError, InputError
   */
  async tag(text: string, options: TagOptions = {}): Promise<TagResult> {
    const input = toInput(text, null, options);
    return this.#toResult(await this.model.run(input, options), options);
  }

  /**
   * Returns the spans of several texts.
   *
   * @returns results in input order
   * @throws EngineError, InputError with the index of the text
   */
  async tagBatch(
    texts: readonly string[],
    options: TagOptions = {},
  ): Promise<readonly TagResult[]> {
    const inputs = texts.map((text, index) => toInput(text, index, options));
    const predictions = await this.model.runAll(inputs, options);
    return Promise.all(predictions.map((prediction) => this.#toResult(prediction, options)));
  }

  async #toResult(
    prediction: TokenClassification,
    { strategy, ignoreLabels }: TagOptions,
  ): Promise<TagResult> {
    const tags = await toSpans(prediction, this.model, { strategy, ignoreLabels });
    return { tags, truncated: prediction.inference.truncated };
  }
}

function toInput(
  text: unknown,
  index: number | null,
  { stride }: TagOptions,
): TokenClassificationInput {
  if (typeof text !== 'string') {
    const received = text === null ? 'null' : typeof text;
    throw new InputError(`expected a string, received ${received}`, index);
  }
  if (stride === undefined) return { text };
  if (!Number.isInteger(stride) || stride < 0) {
    throw new InputError('stride: expected a whole number of at least 0', null);
  }
  return { text, stride };
}
