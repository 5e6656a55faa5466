import type { SchedulingOptions, TextInput } from '../native/engine';
import { configFromOptions } from '../settings/config';
import type { Classification, ClassifierMetadata } from '../tasks/capabilities';
import type { TaskModel } from '../tasks/task-model';
import { textClassification } from '../tasks/text-classification/text-classification-task';
import {
  byName,
  ClassifierEngine,
  type EngineOptions,
  environment,
  InputError,
  loadTexts,
} from './engine';
import { findInputProblem, type SentimentInput, toTextInput } from './text-input';

export interface SentimentOptions
  extends EngineOptions,
    Pick<SchedulingOptions, 'dtype' | 'attentionDtype'> {
  /** Folder that Hugging Face `save_pretrained` wrote. Default: the shipped model. */
  readonly modelDirectory?: string;
}

export interface SentimentResult {
  readonly label: string;
  /** Of the label; not rounded. */
  readonly score: number;
  /** Of all labels, by name. */
  readonly probabilities: Readonly<Record<string, number>>;
  /** The text, or the two together, had more tokens than the model takes, and was cut. */
  readonly truncated: boolean;
}

/** Texts to labels. Loaded once; `close` when it is no longer needed. */
export class TextClassifier extends ClassifierEngine<
  SentimentInput,
  string | TextInput,
  SentimentResult
> {
  readonly labels: readonly string[];
  /** Tokens of a text, or of two together; longer ones are cut. */
  readonly maxLength: number;

  private constructor(model: TaskModel<string | TextInput, Classification, ClassifierMetadata>) {
    const { labels } = model.metadata;
    super(model, takeText, ({ label, score, scores, inference }) => {
      const probabilities = byName(labels, scores);
      return { label, score, probabilities, truncated: inference.truncated };
    });
    this.labels = labels;
    this.maxLength = model.maxLength;
  }

  /**
   * @throws ConfigError: an option is wrong; EngineError with code MODEL_LOAD_FAILED, whose message
   *   names the file and the key at fault
   */
  static async load(options: SentimentOptions = {}): Promise<TextClassifier> {
    const given = { ...options, sentimentModelDir: options.modelDirectory };
    const { scheduling, sentimentModelDir } = configFromOptions('sentiment', given, environment());
    return new TextClassifier(await loadTexts(textClassification, sentimentModelDir, scheduling));
  }
}

function takeText(input: SentimentInput, index: number | null): string | TextInput {
  const problem = findInputProblem(input);
  if (problem !== null) throw new InputError(problem, index);
  return toTextInput(input);
}
