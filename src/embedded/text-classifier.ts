import type { SchedulingOptions, TextInput } from '../native/engine';
import { configFromOptions } from '../settings/config';
import type { Classification, ClassifierMetadata } from '../tasks/capabilities';
import { byName } from '../tasks/classification';
import type { TaskModel } from '../tasks/task-model';
import { textClassification } from '../tasks/text-classification/text-classification-task';
import { ClassifierEngine, type EngineOptions, environment, InputError, loadTexts } from './engine';
import { findInputProblem, type SentimentInput, toTextInput } from './text-input';

export interface SentimentOptions
  extends EngineOptions,
    Pick<SchedulingOptions, 'dtype' | 'attentionDtype'> {
  /** Model folder, written by `save_pretrained` of transformers. Default: the included model. */
  readonly modelDirectory?: string;
}

export interface SentimentResult {
  readonly label: string;
  /** Score of the label, not rounded. */
  readonly score: number;
  /** Scores of all labels by name, not rounded. */
  readonly probabilities: Readonly<Record<string, number>>;
  /** Whether the text or text pair exceeded the maximum length and was truncated. */
  readonly truncated: boolean;
}

/** Text classifier. Load it once and call `close` to release it. */
export class TextClassifier extends ClassifierEngine<
  SentimentInput,
  string | TextInput,
  SentimentResult
> {
  readonly labels: readonly string[];
  /** Maximum length of a text or text pair in tokens. Longer inputs are truncated. */
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
   * Loads the model.
   *
   * @throws ConfigError if an option is invalid; EngineError MODEL_LOAD_FAILED, whose message names
   *   the file and the key
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
