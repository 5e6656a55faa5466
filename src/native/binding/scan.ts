/** Native binding: pattern search in texts and their normalization variants. */

/** A built-in kind of data, or a regular expression of the Rust crate `regex`. */
export interface PatternSource {
  readonly isKind: boolean;
  readonly text: string;
}

/** Opaque handle of compiled patterns. */
export type NativePatterns = object;

/** Normalization variants to search in addition to the parts themselves. */
export interface ScanOptions {
  /** Variants in NFKC, without invisible characters, and with homoglyphs replaced by Latin letters. */
  readonly forms: boolean;
  /**
   * Decoded variants: base64 (up to two levels), tag characters, variation selectors, and escapes of HTML, URLs and
   * JSON.
   */
  readonly decoded: boolean;
  /** The concatenation of all parts. */
  readonly joined: boolean;
  /** Maximum number of variants, not counting the parts and their unescaped variants. */
  readonly mostViews: number;
  /** Maximum number of reported matches. */
  readonly mostPlaces: number;
  /** Time limit; 0: no limit. */
  readonly timeoutMs: number;
}

/** A searched text: a part, or a variant of a part. */
export interface NativeVariant {
  /** Name of the transformation; empty: the unchanged part, without the fields after `part`. */
  readonly view: string;
  /** Index of the part; the number of parts: the concatenation of all parts. */
  readonly part: number;
  readonly text?: string;
  /** Start and end in the part of the source of each UTF-16 unit of `text`. */
  readonly starts?: Uint32Array;
  readonly ends?: Uint32Array;
}

export interface NativeScan {
  readonly looks: readonly NativeVariant[];
  /** Matches [n, 4]: pattern, index in `looks`, start and end in UTF-16 units. */
  readonly places: Uint32Array;
  /** Limit that ended the search early; empty: the search is complete. */
  readonly left: '' | 'places' | 'time';
  /** The limit `mostViews` was reached. */
  readonly isCut: boolean;
}
