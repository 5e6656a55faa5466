import type { Inference } from '../../native/engine';
import type { TextVariant } from './text-variants';

/** What a check has found in a look, in UTF-16 units of it. */
export interface Hit {
  readonly variant: TextVariant;
  readonly label: string;
  readonly score: number;
  readonly start: number;
  readonly end: number;
}

/** What of a look was not read: from `start` on. */
export interface UnreadText {
  readonly variant: TextVariant;
  readonly start: number;
}

export interface CheckResult {
  readonly hits: readonly Hit[];
  readonly inferences: readonly Inference[];
  readonly unread: readonly UnreadText[];
}
