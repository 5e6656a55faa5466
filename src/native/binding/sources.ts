/** Native binding: files and structure of a model. */

import type { TextHead } from './heads';

/** A token that the inputs of a model contain. */
export interface RequiredToken {
  readonly text: string;
  /** ID by the configuration of the model. Default: any. */
  readonly id?: number;
}

/**
 * Prompt of an `EntityInput`: the entity token before each label, and the separator after the last
 * one. With a `LabelEncoder` there is no prompt, only windows.
 */
export interface EntityPrompt {
  readonly entityToken: string;
  readonly separator: string;
  /** The token after the entity token stands for the label, instead of the entity token. */
  readonly labelAfterEntityToken: boolean;
  /** Maximum number of words of a window. */
  readonly maxWords: number;
  /** Number of words that consecutive windows share, at most half of a window. */
  readonly overlap: number;
}

/** Windows of an `EntityInput` of GLiNER2, whose prompt is `( [P] task ( [E] label … ) ) [SEP_TEXT]`. */
export type SchemaPrompt = Pick<EntityPrompt, 'maxWords' | 'overlap'>;

/** Encoder of labels in the weight files of another model (bi-encoders of gliner). */
export interface LabelEncoder extends Pick<TextModelSource, 'modelType' | 'config'> {
  /** Prefix of its keys in the weight files. */
  readonly basePrefix: string;
  /** Absolute path. */
  readonly tokenizerDirectory: string;
  /** Labels whose vectors are computed when the model loads. Default: none. */
  readonly labels?: readonly string[];
}

/** Tokenization for a late-interaction model (ColBERT). */
export interface LateInteraction {
  /** Length in tokens to which inputs with `fills` are padded. */
  readonly filledLength?: number;
  /** Padding token of `filledLength`. Default: the mask token, or the end-of-text token. */
  readonly fillingToken?: string;
  /** Whether the text attends to the padding tokens. */
  readonly fillingIsSeen?: boolean;
  /** Tokens without an embedding in results of inputs with `skips`. */
  readonly skipped: readonly string[];
  /** Text prefixes that are tokens of the vocabulary. The tokenizer does not normalize them. */
  readonly prefixes: readonly string[];
}

/**
 * Fixed texts around the texts of a decoder that scores pairs, instead of special tokens. Each is
 * tokenized alone.
 */
export interface Frame {
  readonly before: readonly string[];
  /** Between the texts of a pair. */
  readonly between: readonly string[];
  readonly after: readonly string[];
  /**
   * Two texts. The end that their tokens share replaces the last tokens of each truncated single
   * text. Default: none.
   */
  readonly keptEnd?: readonly [string, string];
  /**
   * Maximum number of tokens, in addition to `timesBefore` and `timesAfter` times those of `before`
   * and `after`. Default: the limit of the tokenizer, which counts all tokens.
   */
  readonly maxLength?: number;
  readonly timesBefore?: number;
  readonly timesAfter?: number;
}

/** Tokenizer settings that the tokenizer files do not specify. */
export interface TokenizerOverrides {
  /**
   * Maximum length in tokens, including special tokens. Replaces the limit of the tokenizer, not
   * of the model.
   */
  readonly maxLength?: number;
  /** Converts texts to lower case before tokenization, except special tokens. */
  readonly lowercases?: boolean;
  readonly frame?: Frame;
}

/** LoRA adapter of peft. */
export interface LoraAdapter {
  /** Absolute path of adapter_model.safetensors. */
  readonly weightFile: string;
  /**
   * Layers with an update, by module path without `base_model.model.`. `scale`: factor of the
   * update.
   */
  readonly layers: Readonly<
    Record<
      string,
      {
        readonly rank: number;
        readonly scale: number;
      }
    >
  >;
}

/** LoRA factors of several tasks in the weight files (jina-embeddings-v3). */
export interface TaskAdapters {
  readonly tasks: number;
  readonly rank: number;
  /** Factor of the update. */
  readonly scale: number;
  /** Index of the task of inputs without `adapterTask`. Default: no update applies. */
  readonly defaultTask?: number;
}

/** Files of a Hugging Face model folder with a natively implemented encoder. */
export interface TextModelSource extends TokenizerOverrides {
  readonly type: 'text-encoder';
  /** `model_type` of config.json. */
  readonly modelType: string;
  /**
   * Entries of config.json, nested entries under their path (`layer_types.0`), and `num_labels`.
   */
  readonly config: Readonly<Record<string, string | number | boolean | null>>;
  readonly head: TextHead;
  /** Absolute paths of all shards: *.safetensors or *.bin. */
  readonly weightFiles: readonly string[];
  /** Absolute path. */
  readonly tokenizerDirectory: string;
  /** Settings of inputs with `fills` and `skips`. */
  readonly lateInteraction?: LateInteraction;
  /** LoRA updates of the weights. */
  readonly adapter?: LoraAdapter;
  readonly taskAdapters?: TaskAdapters;
  /** Prefix of the keys of the encoder in the weight files. Default: as in transformers. */
  readonly basePrefix?: string;
  /** Start of errors about `config`: a file, and a key of it. Default: `config.json: `. */
  readonly configLocation?: string;
  /** Settings of `EntityInput`. */
  readonly entityPrompt?: EntityPrompt;
  /** Settings of `EntityInput` for GLiNER2. */
  readonly schemaPrompt?: SchemaPrompt;
  /** Tokens that the tokenizer must have. */
  readonly requiredTokens?: readonly RequiredToken[];
  /** Encoder of the labels of an `EntityInput`. Default: the prompt contains the labels. */
  readonly labelEncoder?: LabelEncoder;
}

/**
 * Tokenizer and a TorchScript or torch.export file that maps input_ids and attention_mask to logits
 * [texts, numLabels] or [texts, tokens, numLabels].
 */
export interface TextProgramSource extends TokenizerOverrides {
  readonly type: 'text-program';
  /** Absolute path. */
  readonly path: string;
  readonly numLabels: number;
  /** Maximum length in tokens by config.json, including special tokens. */
  readonly positionLimit: number;
  /** pad_token_id of config.json. Default: padding token of the tokenizer. */
  readonly paddingId?: number;
  /** The model returns logits per token. */
  readonly ofTokens: boolean;
  /** Absolute path. */
  readonly tokenizerDirectory: string;
}

/** Input of a program with the same value in every run. */
export interface ConstantInput {
  /** Name of the input in the program. */
  readonly name: string;
  /** Without the batch dimension; the product is the number of values. */
  readonly shape: readonly number[];
  readonly values: Float64Array;
}

/** A TorchScript or torch.export file that maps n windows, float32, to n × the number of classes. */
export interface SignalProgramSource {
  readonly type: 'signal-program';
  /** Absolute path. */
  readonly path: string;
  /** Window length in samples. */
  readonly windowLength: number;
  /** Shape of a window. Default: shape in the file, or [1, windowLength]. */
  readonly inputShape?: readonly number[];
  /** All inputs of the program except the windows. */
  readonly constantInputs?: readonly ConstantInput[];
}

export type ModelSource = TextModelSource | TextProgramSource | SignalProgramSource;
