import type { FileOptions } from './formats';
import type { Windowing } from './readers/recording-reader';
import type { Row } from './rows';

/** Type of an output column. `integer` and `unsigned` have 64 bits; `json` holds mixed types. */
export const COLUMN_TYPES = [
  'string',
  'integer',
  'unsigned',
  'number',
  'boolean',
  'time',
  'json',
] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** Column of an input file with a header or schema. */
export type SourceColumn = Column;

/** Table column of a prediction. */
export interface ResultColumn {
  readonly name: string;
  readonly type: ColumnType | 'vector';
  /** Dimensions of a vector, each a float32. */
  readonly length?: number;
  /** Serializes several values as JSON; default: JSON.stringify. */
  toJson?(values: readonly unknown[]): Promise<readonly Buffer[]>;
}

/** Named field of a prediction. */
export interface ResultField<Prediction = unknown> extends ResultColumn {
  /** Names of the parts; in tables each is a column `name.part` after all undivided fields. Undefined if undivided. */
  readonly parts?: readonly string[];
  /** Returns the value, or the array of the values of all parts. */
  extract(prediction: Prediction): unknown;
}

/** Prediction of a window, for the summary of its recording. */
export interface WindowResult {
  readonly label: string;
  /** Probabilities by label. */
  readonly scores: Readonly<Record<string, number>>;
  /** Label that an annotation names; null: none does. */
  readonly expected: string | null;
}

/** Input columns and output fields of a task. */
export interface RowFormat<Prediction = unknown> {
  /** Columns that each row must have. */
  readonly requiredColumns: readonly string[];
  /** Required columns that `--keep all` does not copy to the output. */
  readonly omittedColumns: readonly string[];
  /** Windowing of recordings; null if the task does not accept recordings. */
  readonly windowing: Windowing | null;
  /** Fields of a prediction in output order. Names must differ from the names of kept input columns. */
  readonly fields: readonly ResultField<Prediction>[];
  /**
   * Maximum size of the rows whose predictions are written together, in characters. Default: chunks of 4 MiB, and
   * parts of 32 MiB. Tasks with large predictions need a lower limit.
   */
  readonly charactersPerPart?: number;
  /** Labels of a prediction for the summary, and whether the input was truncated. */
  summarize(
    prediction: Prediction,
    row: Pick<Row, 'window'>,
  ): {
    readonly labels: readonly string[];
    readonly truncated: boolean;
    /** Window of a recording; undefined: another input. */
    readonly window?: WindowResult | undefined;
  };
}

/** Options and row format of a batch job. */
export interface JobSpec {
  readonly options: FileOptions;
  readonly format: RowFormat;
}
