import type { Inference } from '../../native/engine';
import type { Look } from './looks';

/** What a check has found in a look, in UTF-16 units of it. */
export interface Hit {
  readonly look: Look;
  readonly label: string;
  readonly score: number;
  readonly start: number;
  readonly end: number;
}

/** What of a look was not read: from `start` on. */
export interface Unread {
  readonly look: Look;
  readonly start: number;
}

export interface Ran {
  readonly hits: readonly Hit[];
  readonly inferences: readonly Inference[];
  readonly unread: readonly Unread[];
}
