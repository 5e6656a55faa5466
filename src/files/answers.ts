/** What a column of the output holds; JSON: what is of no one kind. */
export const COLUMN_TYPES = ['string', 'integer', 'number', 'boolean', 'time', 'json'] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** How answers are written and counted, whatever rows are asked for. */
export interface AnswerFormat<Answer = unknown> {
  /** Members of a JSON object, in order; no column of the input may be called like one. */
  readonly members: readonly string[];
  /** The values of the members, in their order; undefined: it is left out. */
  toMembers(answer: Answer): readonly unknown[];
  /** Columns of a table, in order. */
  readonly columns: readonly Column[];
  /** The values of the columns, in their order. */
  toCells(answer: Answer): readonly unknown[];
  /** Under which label the summary counts it, and whether the input was longer than the model takes. */
  count(answer: Answer): { readonly label: string; readonly truncated: boolean };
}
