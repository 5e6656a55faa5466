/** Of the native binding: what a model is made of. */

/** How the rows of a text's tokens become one, by the names of sentence-transformers. */
export type PoolingMode =
  | 'cls'
  | 'max'
  | 'mean'
  | 'mean_sqrt_len_tokens'
  | 'weightedmean'
  | 'lasttoken';

/** What sentence-transformers lists behind an encoder. `weightFiles`: absolute paths, of this module alone. */
export type SentenceModule =
  | {
      readonly type: 'pooling';
      /** Several: their vectors side by side, in this order. */
      readonly modes: readonly PoolingMode[];
      /** false: tokens of the prompt are left out. */
      readonly includePrompt: boolean;
    }
  | {
      readonly type: 'dense';
      /** None: its weights are among those of the encoder, as `linear`. */
      readonly weightFiles: readonly string[];
      readonly inFeatures: number;
      readonly outFeatures: number;
      readonly bias: boolean;
      /** As config.json of transformers would name it: `tanh`; `linear` for none. */
      readonly activation: string;
      /** The input is added to the result, projected where their sizes differ. */
      readonly residual: boolean;
    }
  | {
      readonly type: 'layer-norm';
      readonly weightFiles: readonly string[];
      readonly dimension: number;
    }
  | { readonly type: 'normalize' };

/** What makes an answer of an encoder's states; every family of encoders has each. */
export type TextHead =
  /** One row of logits, `num_labels` of the configuration. */
  | { readonly name: 'sequence-classification' }
  /** Such a row for each token, special ones included. */
  | { readonly name: 'token-classification' }
  /** SPLADE, one row over the vocabulary: of each word the largest, or the sum, over all tokens. */
  | {
      readonly name: 'masked-lm';
      readonly pooling: 'max' | 'sum';
      /** Of a logit: log(1 + relu), or log(1 + log(1 + relu)). */
      readonly activation: 'relu' | 'log1p_relu';
    }
  /** One row, or without a pooling a row for each token, special ones included. */
  | { readonly name: 'embedding'; readonly modules: readonly SentenceModule[] };

/** How texts are read by a model of late interaction (ColBERT). */
export interface LateInteraction {
  /** Tokens that an input with `fills` is filled up to. */
  readonly filledLength?: number;
  /** With this one. Default: the tokenizer's mask token, else the one that ends a text. */
  readonly fillingToken?: string;
  /** The others attend to them. */
  readonly fillingIsSeen?: boolean;
  /** Tokens that have no row in the answer to an input with `skips`. */
  readonly skipped: readonly string[];
  /** Of texts, which are tokens of the vocabulary though text is normalized. */
  readonly prefixes: readonly string[];
}

/** How texts are read, where the tokenizer's own files do not specify it. */
export interface TokenizerOverrides {
  /** Tokens, special ones included, in place of the tokenizer's own limit; the model's still applies. */
  readonly maxLength?: number;
  /** Texts are put into lower case before all else; special tokens in them stay what they are. */
  readonly lowercases?: boolean;
}

/** A Hugging Face directory whose encoder has code of its own here, its files already found. */
export interface TextModelSource extends TokenizerOverrides {
  readonly type: 'text-encoder';
  /** config.json's "model_type". */
  readonly modelType: string;
  /** config.json's entries, nested ones under their path (`layer_types.0`), and `num_labels`. */
  readonly config: Readonly<Record<string, string | number | boolean | null>>;
  readonly head: TextHead;
  /** Absolute paths: *.safetensors or *.bin, one file or every shard. */
  readonly weightFiles: readonly string[];
  /** Absolute path. */
  readonly tokenizerDirectory: string;
  /** For inputs with `fills` and `skips`. */
  readonly lateInteraction?: LateInteraction;
}

/**
 * A TorchScript or torch.export file that maps input_ids and attention_mask to logits, [texts, numLabels] or
 * [texts, tokens, numLabels], behind a tokenizer.
 */
export interface TextProgramSource extends TokenizerOverrides {
  readonly type: 'text-program';
  /** Absolute path. */
  readonly path: string;
  readonly numLabels: number;
  /** Tokens, special ones included, that config.json allows. */
  readonly positionLimit: number;
  /** config.json's pad_token_id; absent: the tokenizer says. */
  readonly paddingId?: number;
  /** Logits are those of each token. */
  readonly ofTokens: boolean;
  /** Absolute path. */
  readonly tokenizerDirectory: string;
}

/** A TorchScript or torch.export file that maps n windows, float32, to n × the number of classes. */
export interface SignalProgramSource {
  readonly type: 'signal-program';
  /** Absolute path. */
  readonly path: string;
  /** Samples. */
  readonly windowLength: number;
  /** Of a window; its product is windowLength. Absent: as the file says, else [1, windowLength]. */
  readonly inputShape?: readonly number[];
}

export type ModelSource = TextModelSource | TextProgramSource | SignalProgramSource;
