/** Of the native binding: what the file of a program says. */

/** A tensor that a program takes, in words: `float32`, `[1 to 64, 1, 256]`; empty: its file does not say. */
export interface ValueReport {
  readonly name: string;
  readonly type: string;
  readonly sizes: string;
}

export interface OperatorReport {
  readonly name: string;
  /** How often it stands in the code. */
  readonly count: number;
  /** Why a model that uses it is not loaded; empty: it may be used. */
  readonly problem: string;
}

/** What a program's file says, none of it run. */
export interface ProgramReport {
  readonly kind: string;
  /** `PyTorch 2.15.0`; empty: the file does not say. */
  readonly madeBy: string;
  readonly inputs: readonly ValueReport[];
  /** Names; empty: the file does not say. */
  readonly outputs: readonly string[];
  /** Numbers; what is tied counts once. */
  readonly weightCount: number;
  readonly weightBytes: number;
  readonly weightTypes: readonly string[];
  /** By name. */
  readonly operators: readonly OperatorReport[];
}
