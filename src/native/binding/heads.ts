/** Native binding: heads of text models, and modules of sentence-transformers. */

/** A token of the vocabulary: its ID, or a text of which it is the first token. */
export type TokenName = number | string;

/** Pooling modes of sentence-transformers. */
export type PoolingMode =
  | 'cls'
  | 'max'
  | 'mean'
  | 'mean_sqrt_len_tokens'
  | 'weightedmean'
  | 'lasttoken';

/**
 * Module of sentence-transformers after the encoder. `weightFiles`: absolute paths of the weights
 * of the module.
 */
export type SentenceModule =
  | {
      readonly type: 'pooling';
      /** The results of several modes are concatenated in this order. */
      readonly modes: readonly PoolingMode[];
      /** false: pooling ignores the tokens of the prompt. */
      readonly includePrompt: boolean;
    }
  | {
      readonly type: 'dense';
      /** Empty: the weights are in the files of the encoder, under `linear`. */
      readonly weightFiles: readonly string[];
      readonly inFeatures: number;
      readonly outFeatures: number;
      readonly bias: boolean;
      /**
       * Activation function as in config.json of transformers, such as `tanh`; `linear`: no
       * activation.
       */
      readonly activation: string;
      /** Residual connection. The input is projected if the sizes differ. */
      readonly residual: boolean;
    }
  | {
      readonly type: 'layer-norm';
      readonly weightFiles: readonly string[];
      readonly dimension: number;
    }
  | { readonly type: 'normalize' };

/** Model head on the hidden states of an encoder. All encoders support all heads. */
export type TextHead =
  /** One row of logits, `num_labels` of the configuration. */
  | { readonly name: 'sequence-classification' }
  /** A row of logits for each token, including special tokens. */
  | { readonly name: 'token-classification' }
  /** SPLADE: a weight per token of the vocabulary, the maximum or sum over all tokens of the text. */
  | {
      readonly name: 'masked-lm';
      readonly pooling: 'max' | 'sum';
      /** Activation of a logit: log(1 + relu), or log(1 + log(1 + relu)). */
      readonly activation: 'relu' | 'log1p_relu';
    }
  /**
   * Difference of the logits of two tokens after the text; without a false token the logit of the
   * true token.
   */
  | {
      readonly name: 'logit-score';
      readonly trueToken: TokenName;
      readonly falseToken?: TokenName;
    }
  /** An embedding; without a pooling module an embedding per token, including special tokens. */
  | {
      readonly name: 'embedding';
      readonly modules: readonly SentenceModule[];
    }
  /** bge-m3: the parts that an input asks for, see `TextInput.parts`. */
  | {
      readonly name: 'bge-m3';
      /** Absolute paths of the weights of the linear layers. */
      readonly sparseFiles: readonly string[];
      readonly colbertFiles: readonly string[];
      /** Whether the dense embedding is normalized. */
      readonly normalizes: boolean;
    }
  /** GLiNER: spans of words with labels, see `EntityInput`. */
  | {
      readonly name: 'gliner';
      readonly mode: 'marker' | 'markerV0' | 'markerV1' | 'markerV2' | 'token_level';
      /** Size of the states of words and labels. The states of the encoder are projected to it. */
      readonly hiddenSize: number;
      /** Maximum number of words of a span; `token_level` has no limit. */
      readonly maxWidth: number;
      /** 0: no LSTM over the words. */
      readonly lstmLayers: number;
    }
  | Gliner2Head
  /**
   * Laya: a logit for each marker of a `TokenInput`, then the probability that an agent should act.
   * Question types: 0 choice, 1 score, 2 noul.
   */
  | {
      readonly name: 'laya';
      /** Transformer layers after the encoder. */
      readonly layers: number;
      /** Outputs of the head for actions. */
      readonly actions: number;
    }
  | GliclassHead;

/**
 * GLiClass: a logit for each label. The markers of a `TokenInput` are the token before each label,
 * and the separator after the last label.
 */
export interface GliclassHead {
  readonly name: 'gliclass';
  readonly scorer: 'simple' | 'weighted-dot' | 'mlp' | 'hopfield' | 'cross-attn';
  /** Pooling of the tokens of the text; `pass`: none, for `cross-attn`. */
  readonly pooling:
    | 'first'
    | 'last'
    | 'max'
    | 'avg'
    | 'sum'
    | 'rms'
    | 'abs_max'
    | 'abs_avg'
    | 'pass';
  /** The vector of a label is the mean of its tokens, instead of its first token. */
  readonly averagesLabel: boolean;
  /** The tokens of a label begin after its marker. */
  readonly omitsLabelToken: boolean;
  /** The text begins at the separator, instead of at the first token. */
  readonly textFromSeparator: boolean;
  /** A bidirectional LSTM reads the tokens of the text. */
  readonly hasLstm: boolean;
  /** Vectors are L2-normalized, and scores multiplied by a learned factor. */
  readonly normalizes: boolean;
  /** Activation function of the projections, as in config.json of transformers. */
  readonly activation: string;
  /** Inner size of the projections, and size of the scorer. */
  readonly hiddenSize: number;
  /** Attention heads and inner size of the scorer `cross-attn`. */
  readonly attentionHeads: number;
  readonly mlpSize: number;
}

/**
 * GLiNER2: a logit for each marker of a `TokenInput`, which is the token before a class. Of an `EntityInput` spans of
 * words with labels.
 */
export interface Gliner2Head {
  readonly name: 'gliner2';
  /** How the queries of labels are computed. Default: the model finds no entities. */
  readonly counting?: 'count_lstm' | 'count_lstm_v2' | 'count_lstm_moe';
  /** Maximum number of words of a span. */
  readonly maxWidth: number;
  /** Key of the last layer of the classifier. */
  readonly classifierOutput: string;
  /** Divisor of the logits of classes. */
  readonly temperature: number;
}
