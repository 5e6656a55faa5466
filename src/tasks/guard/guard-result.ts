import type { Inference, InferOptions } from '../../native/engine';
import type { Capabilities, Capability } from '../capabilities';

/** What a guard is asked. */
export interface GuardRequest {
  /** Parts of one message, or messages: looked at each alone, and together. */
  readonly texts: readonly string[];
  /** Whether they go to a language model, or come from one; `both`: where nothing says which. */
  readonly direction: 'input' | 'output' | 'both';
  /** Names of the checks that are asked; left out: all of the direction. */
  readonly checks?: readonly string[] | undefined;
  /** Also what lies below the thresholds; then no check is skipped. */
  readonly scores?: boolean;
  /** Placeholders that stand for something else already: none is given to what is found here. */
  readonly taken?: readonly string[];
}

export type CheckAction = 'block' | 'redact' | 'note';

/** What a check has found. */
export interface Finding {
  /** Its name in the guard's file. */
  readonly check: string;
  readonly label: string;
  /** Not rounded; of patterns 1. */
  readonly score: number;
  /** Index of the text; null: all of them together. */
  readonly part: number | null;
  /** In UTF-16 units of the text, never within a character; null: the whole text. */
  readonly start: number | null;
  readonly end: number | null;
  /** In which form of the text it was found; `text`: as it is. */
  readonly variant: string;
  readonly action: CheckAction;
}

/** What would be found, if it reaches its threshold. */
export interface ScoredFinding extends Finding {
  /**
   * Of parts together: the highest score that one part has alone for the label in this place. Where that
   * reaches the threshold, too, this is not told. null: there is none.
   */
  readonly singlePartScore: number | null;
}

/** A check that could not run. */
export interface CheckError {
  readonly check: string;
  /** For clients: it holds nothing of the text. */
  readonly reason: string;
  /** What its `on_error` makes of it. */
  readonly action: 'block' | 'allow';
}

/** What was not looked at, because of a limit of the guard's file. */
export interface Unchecked {
  /** null: no check has. */
  readonly check: string | null;
  /** Index of the text, and from where on; null: of any. */
  readonly part: number | null;
  readonly start: number | null;
  readonly limit: 'characters' | 'views' | 'windows' | 'places' | 'time';
  readonly action: 'block' | 'note';
}

export interface GuardResult {
  /** `redact`: pass on `texts` in the place of what was sent. */
  readonly action: 'allow' | 'redact' | 'block';
  /** By part, then by place. */
  readonly findings: readonly Finding[];
  /** What would be found if every threshold were 0, in the same order; null: it was not asked for. */
  readonly scores: readonly ScoredFinding[] | null;
  /** With placeholders such as `<EMAIL_1>` for what checks redact; equal to those that were sent where nothing is. */
  readonly texts: readonly string[];
  /** By placeholder what it stands for. */
  readonly map: Readonly<Record<string, string>>;
  readonly errors: readonly CheckError[];
  readonly unchecked: readonly Unchecked[];
  /** Names of checks that were not awaited, because a decisive one blocked. */
  readonly skipped: readonly string[];
  /** What models ran, for timings. */
  readonly inferences: readonly Inference[];
}

/** The models that a guard may ask, by name. */
export interface GuardModels {
  /** @throws Error, whose message clients may read: it is not loaded, or cannot do this */
  find<Name extends Capability>(
    name: string,
    ability: Name,
  ): { readonly model: Capabilities[Name]; readonly options: InferOptions };
}
