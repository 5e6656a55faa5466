import type { Inference, InferOptions } from '../../native/engine';
import type { Capabilities, Capability } from '../capabilities';

/** Request to check texts. */
export interface GuardRequest {
  /** Parts of a message, or messages. Each part is checked separately and all parts joined. */
  readonly texts: readonly string[];
  /**
   * Direction of the texts: to a language model (input), from a language model (output), or unknown
   * (both).
   */
  readonly direction: 'input' | 'output' | 'both';
  /** Names of the checks to run; undefined: all checks of the direction. */
  readonly checks?: readonly string[] | undefined;
  /** Whether to return scores below the thresholds. If set, no check is skipped. */
  readonly scores?: boolean;
  /** Placeholders in use, which redaction must not assign again. */
  readonly taken?: readonly string[];
}

export type CheckAction = 'block' | 'redact' | 'flag';

/** Finding of a check. */
export interface Finding {
  /** Name of the check in the policy file. */
  readonly check: string;
  readonly label: string;
  /** Score, not rounded; 1 for patterns. */
  readonly score: number;
  /** Index of the text; null: the joined texts. */
  readonly part: number | null;
  /** Start offset in UTF-16 units, never inside of a surrogate pair; null: the whole text. */
  readonly start: number | null;
  readonly end: number | null;
  /** Normalization variant that contains the finding; `text`: the original text. */
  readonly variant: string;
  readonly action: CheckAction;
}

/** Finding with a score that may be below the threshold. */
export interface ScoredFinding extends Finding {
  /**
   * For a finding in the joined texts: highest score of a single text for the same label and
   * position. If this score reaches the threshold, the finding is not reported. null: no score.
   */
  readonly singlePartScore: number | null;
}

/** Failed check. */
export interface CheckError {
  readonly check: string;
  /** Message for clients. It contains no part of the text. */
  readonly reason: string;
  /** Action of the check's `on_error`. */
  readonly action: 'block' | 'allow';
}

/** Text that was not checked because of a limit of the policy. */
export interface Unchecked {
  /** Name of the check; null: all checks. */
  readonly check: string | null;
  /** Index of the text; null: any text. */
  readonly part: number | null;
  readonly start: number | null;
  readonly limit: 'characters' | 'variants' | 'windows' | 'matches' | 'time';
  readonly action: 'block' | 'flag';
}

export interface GuardResult {
  /** `redact`: use `texts` instead of the original texts. */
  readonly action: 'allow' | 'redact' | 'block';
  /** Findings by part and start offset. */
  readonly findings: readonly Finding[];
  /** Findings with all thresholds set to 0, in the same order; null: not requested. */
  readonly scores: readonly ScoredFinding[] | null;
  /**
   * Texts with placeholders such as `<EMAIL_1>` for redacted parts. Texts without redaction are
   * unchanged.
   */
  readonly texts: readonly string[];
  /** Original texts by placeholder. */
  readonly map: Readonly<Record<string, string>>;
  readonly errors: readonly CheckError[];
  readonly unchecked: readonly Unchecked[];
  /** Names of skipped checks: a check with stop_on_match blocked before they finished. */
  readonly skipped: readonly string[];
  /** Inference metadata of the models, for timings. */
  readonly inferences: readonly Inference[];
}

/** Models of a guardrail by name. */
export interface GuardModels {
  /**
   * Finds a loaded model with an ability.
   *
   * @throws Error with a message for clients: the model is not loaded or lacks the ability
   */
  find<Name extends Capability>(
    name: string,
    ability: Name,
  ): { readonly model: Capabilities[Name]; readonly options: InferOptions };
}
