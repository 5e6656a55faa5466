/** Of the native binding: looking for patterns in texts and the forms of them. */

/** A pattern: a kind of data that is known here, or a regular expression of the Rust crate `regex`. */
export interface PatternSource {
  readonly isKind: boolean;
  readonly text: string;
}

/** Compiled patterns; opaque. */
export type NativePatterns = object;

/** Which forms of the parts are looked at, beside the parts themselves. */
export interface ScanOptions {
  /** Without what is not seen, in NFKC, and with Latin letters for what looks like them. */
  readonly forms: boolean;
  /**
   * What is written in base64, and once more in that; in tags and in variation selectors; in escapes of HTML, of
   * URLs and of JSON.
   */
  readonly decoded: boolean;
  /** All parts as one text. */
  readonly joined: boolean;
  /** Texts in addition to the parts themselves and to those that are made of them by undoing escapes. */
  readonly mostViews: number;
  /** Places that are told. */
  readonly mostPlaces: number;
  /** 0: any. */
  readonly timeoutMs: number;
}

/** A text that was looked at: a part as it is, or a form of it. */
export interface NativeVariant {
  /** What was done to it; empty: nothing, and what follows `part` is left out. */
  readonly view: string;
  /** Which part it is of; as many as there are: of all, one behind the other. */
  readonly part: number;
  readonly text?: string;
  /** Of each UTF-16 unit of the text where what it is made of begins, and ends. */
  readonly starts?: Uint32Array;
  readonly ends?: Uint32Array;
}

export interface NativeScan {
  readonly looks: readonly NativeVariant[];
  /** Pattern, look, start and end of each place, in UTF-16 units of the look. */
  readonly places: Uint32Array;
  /** Why not all patterns were looked for; empty: they were. */
  readonly left: '' | 'places' | 'time';
  /** There are more forms than `mostViews`. */
  readonly isCut: boolean;
}
