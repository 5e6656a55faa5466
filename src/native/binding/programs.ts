/** Native binding: description of a program file. */

/** Input tensor of a program, such as `float32` and `[1 to 64, 1, 256]`; empty: unspecified. */
export interface ValueReport {
  readonly name: string;
  readonly type: string;
  readonly sizes: string;
}

export interface OperatorReport {
  readonly name: string;
  /** Number of uses in the program. */
  readonly count: number;
  /** Why the operator is not allowed; empty: it is allowed. */
  readonly problem: string;
}

/** Contents of a program file. The file is not executed. */
export interface ProgramReport {
  readonly kind: string;
  /** Producer, such as `PyTorch 2.15.0`; empty: unspecified. */
  readonly madeBy: string;
  readonly inputs: readonly ValueReport[];
  /** Names of the outputs; empty: unspecified. */
  readonly outputs: readonly string[];
  /** Number of parameters. Tied parameters count once. */
  readonly weightCount: number;
  readonly weightBytes: number;
  readonly weightTypes: readonly string[];
  /** Sorted by name. */
  readonly operators: readonly OperatorReport[];
}
