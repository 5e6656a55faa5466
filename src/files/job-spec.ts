import type { FileOptions } from './formats';
import type { Windowing } from './readers/recording-reader';

/** What a column of the output holds; integers of 64 bits, with a sign or not; JSON: what is of no one kind. */
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

/** A column of an input that says its columns before its rows. */
export type SourceColumn = Column;

/** A column of an answer in a table. */
export interface ResultColumn {
  readonly name: string;
  readonly type: ColumnType | 'vector';
  /** Of a vector: its numbers, each a float32. */
  readonly length?: number;
  /** The JSON of several values; absent: it is that of JavaScript. */
  toJson?(values: readonly unknown[]): Promise<readonly Buffer[]>;
}

/** What an answer holds under one name. */
export interface ResultField<Answer = unknown> extends ResultColumn {
  /** A table has a column for each, `name.part`, behind all whole members; absent: it is whole. */
  readonly parts?: readonly string[];
  /** Its value; where there are parts, an array of theirs. */
  extract(answer: Answer): unknown;
}

/** How rows are read for a task, and its answers are written and counted. */
export interface RowFormat<Answer = unknown> {
  /** Columns that every row must have. */
  readonly requiredColumns: readonly string[];
  /** Of these, those that are left out of the output where all columns are kept. */
  readonly omittedColumns: readonly string[];
  /** How recordings become rows; null: they do not. */
  readonly windowing: Windowing | null;
  /** In the order of a JSON object; no column of the input may be called like one. */
  readonly fields: readonly ResultField<Answer>[];
  /** Under which labels the summary counts it, and whether the input was longer than the model takes. */
  summarize(answer: Answer): { readonly labels: readonly string[]; readonly truncated: boolean };
}

/** What decides how a run reads its inputs, and which columns its output has. */
export interface JobSpec {
  readonly options: FileOptions;
  readonly format: RowFormat;
}
