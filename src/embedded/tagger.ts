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
  /** Of a token classifier, as Hugging Face `save_pretrained` wrote it. */
  readonly modelDirectory: string;
}

export interface TagOptions extends RunOptions {
  /** How tokens become spans, as the pipeline of transformers names it. Default: simple. */
  readonly strategy?: Strategy;
  /** Labels that are left out, as spans have them. Default: O. */
  readonly ignoreLabels?: readonly string[];
  /** A long text is read in windows that share so many tokens. Default: it is cut. */
  readonly stride?: number;
}

/** A span of a text: `text.slice(start, end)`. Its score is not rounded. */
export type TaggedSpan = Span;

export interface TagResult {
  readonly tags: readonly TaggedSpan[];
  /** The text had more tokens than the model takes, and was cut. */
  readonly truncated: boolean;
}

/** Texts to spans, as the `token-classification` pipeline. Loaded once; `close` when it is no longer needed. */
export class Tagger extends ModelEngine<
  TokenClassificationInput,
  TokenClassification,
  ClassifierMetadata
> {
  /**
   * @throws ConfigError: an option is wrong; EngineError with code MODEL_LOAD_FAILED, whose message
   *   names the file and the key at fault
   */
  static async load({ modelDirectory, ...options }: TaggerOptions): Promise<Tagger> {
    const { scheduling } = configFromOptions('sentiment', options, environment());
    const folder = path.resolve(modelDirectory);
    return new Tagger(await loadTexts(tokenClassification, folder, scheduling));
  }

  /** Of tokens, as config.json names them. */
  get labels(): readonly string[] {
    return this.model.metadata.labels;
  }

  /** Tokens of a text that is not read in windows. */
  get maxLength(): number {
    return this.model.maxLength;
  }

  /** @throws EngineError; InputError */
  async tag(text: string, options: TagOptions = {}): Promise<TagResult> {
    const input = toInput(text, null, options);
    return this.#toResult(await this.model.run(input, options), options);
  }

  /**
   * @returns in the order of the texts
   * @throws EngineError, InputError: with the index of the text at fault
   */
  async tagBatch(
    texts: readonly string[],
    options: TagOptions = {},
  ): Promise<readonly TagResult[]> {
    const inputs = texts.map((text, index) => toInput(text, index, options));
    const answers = await this.model.runAll(inputs, options);
    return Promise.all(answers.map((answer) => this.#toResult(answer, options)));
  }

  async #toResult(
    answer: TokenClassification,
    { strategy = 'simple', ignoreLabels }: TagOptions,
  ): Promise<TagResult> {
    const tags = await toSpans(answer, this.model, { strategy, ignoreLabels });
    return { tags, truncated: answer.inference.truncated };
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
