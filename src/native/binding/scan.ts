/** Pattern search of the addon: types of compilePatterns() and scan(). */

/** A pattern: a kind of PII, or a regular expression of the Rust crate `regex`. */
export interface PatternSource {
  readonly isKind: boolean;
  readonly text: string;
}

/** Opaque handle of compiled patterns. */
export type NativePatterns = object;

/** The variants of the parts to search in addition to the parts, and limits. */
export interface ScanOptions {
  /** Without invisible characters, in NFKC, with Latin letters instead of confusable ones. */
  readonly normalized: boolean;
  /**
   * Decoded base64 (also base64 within base64), tag characters, variation selectors, and escapes of HTML, URLs and
   * JSON.
   */
  readonly decoded: boolean;
  /** The concatenation of all parts. */
  readonly joined: boolean;
  /** Maximum number of variants, without the parts and the variants that result from decoding their escapes. */
  readonly maxVariants: number;
  readonly maxMatches: number;
  /** 0: unlimited. */
  readonly timeoutMs: number;
}

/** A text that was searched: a part or a variant. */
export interface NativeVariant {
  /** Normalization steps, separated by spaces; empty for a part, which lacks the following fields except `part`. */
  readonly steps: string;
  /** Index of the part; the number of parts for a variant of their concatenation. */
  readonly part: number;
  readonly text?: string;
  /** Start of the source of each UTF-16 unit of the text. */
  readonly starts?: Uint32Array;
  /** End of the source of each UTF-16 unit of the text. */
  readonly ends?: Uint32Array;
}

export interface NativeScan {
  readonly variants: readonly NativeVariant[];
  /** Index of the pattern, index of the variant, start and end of each match, in UTF-16 units of the variant. */
  readonly matches: Uint32Array;
  /** Limit that ended the search; empty: the search is complete. */
  readonly stoppedBy: '' | 'matches' | 'time';
  /** `maxVariants` was reached. */
  readonly isTruncated: boolean;
}

/** Opaque handle of compiled regular expressions with lookaround. */
export type NativeExpressions = object;

export interface ExpressionLimits {
  /** Of all expressions. */
  readonly maxMatches: number;
  /** 0: unlimited. */
  readonly timeoutMs: number;
}

export interface NativeExpressionMatches {
  /**
   * Per match: expression, start, end, ends of the first three groups, in UTF-16 units; 2^32 - 1: the group is not part
   * of the match.
   */
  readonly matches: Uint32Array;
  /** Indexes of the expressions whose search a limit ended. */
  readonly incomplete: Uint32Array;
}
