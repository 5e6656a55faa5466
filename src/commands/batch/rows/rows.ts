import { JsonText } from '../../../files/cell-values';
import type { Flags, FlagValues } from '../../../files/flags';
import type { OutputFormat } from '../../../files/formats';
import type { ResultField, RowFormat } from '../../../files/job-spec';
import { exactMembers } from '../../../files/readers/jsonl-reader';
import type { SplitRecording } from '../../../files/readers/recording-reader';
import { fieldOf, type Row } from '../../../files/rows';
import { roundToFourDecimals } from '../../../lib/numbers';
import type { Classification, ModelMetadata, Predictor } from '../../../tasks/capabilities';

/** Parts of a row that become the input of a model. */
export type InputRow = Pick<Row, 'fields' | 'signal' | 'exact' | 'json'>;

/** Model input of a row, or the problem with the row. The problem quotes no data of the row. */
export type RowInput<Input> = { readonly input: Input } | { readonly problem: string };

/** Labels of a result for the summary, and whether the input was truncated. */
type ResultSummary = ReturnType<RowFormat['summarize']>;

/** Output fields of a result, and its labels in the summary. */
export interface ResultFormat<Result> {
  readonly fields: readonly ResultField<Result>[];
  /** Labels that the summary always lists, also with a count of 0. */
  readonly labels: readonly string[];
  /** See `RowFormat.charactersPerPart`. */
  readonly charactersPerPart?: number;
  summarize(result: Result, row: Pick<Row, 'window'>): ResultSummary;
}

/** A loaded model applied to rows. */
export interface RowModel<Input = unknown, Result = unknown> extends ResultFormat<Result> {
  /** Required columns that `--keep all` does not copy to the output. */
  readonly omittedColumns: readonly string[];
  /** Splits recordings into windows; null: the task does not accept recordings. */
  readonly split: SplitRecording | null;
  toInput(row: InputRow): RowInput<Input>;
  /** Length by which the dispatcher sorts inputs. */
  inputLength(input: Input): number;
  /** @throws EngineError */
  run(input: Input): Promise<Result>;
  /**
   * Runs several inputs together, for models that take less time for an input than a request does. Default: each input
   * is a request.
   *
   * @throws EngineError of one of the inputs
   */
  runAll?(inputs: readonly Input[]): Promise<readonly Result[]>;
}

/** Parsed command-line flags of a task. */
export interface RowOptions<Input, Prediction, Metadata extends ModelMetadata> {
  /** Columns that every row must have. */
  readonly requiredColumns: readonly string[];
  /** Options that determine the output bytes, by name. `--resume` requires equal options. */
  readonly identity: Readonly<Record<string, unknown>>;
  /** @throws UsageError: the model does not support the options */
  bind(
    model: Pick<
      Predictor<Input, Prediction, Metadata>,
      'metadata' | 'maxLength' | 'monitor' | 'vocabulary' | 'run' | 'runAll'
    >,
  ): RowModel<Input>;
}

/** Inputs and outputs of a task as rows of files. */
export interface TaskRows<Input, Prediction, Metadata extends ModelMetadata> {
  /** Flags in addition to the flags of all batch commands. */
  readonly flags: Flags;
  /** Output formats in addition to the formats of all tasks. */
  readonly formats: readonly OutputFormat[];
  readonly readsRecordings: boolean;
  /** @throws UsageError */
  parse(values: FlagValues): RowOptions<Input, Prediction, Metadata>;
}

export const TEXT_COLUMN_FLAG = {
  'text-column': { value: 'NAME', help: 'column of the texts (default: text)' },
} as const satisfies Flags;

export const ALL_LABELS_FLAG = {
  'all-labels': { help: 'adds the probabilities of all labels' },
} as const satisfies Flags;

/** Last output field of text tasks. */
export const TRUNCATED_FIELD = {
  name: 'truncated',
  type: 'boolean',
  extract: ({ truncated }: { readonly truncated: boolean }) => truncated,
} as const;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text of a column, or the problem with it. Parquet columns without a string type contain bytes. */
export function textOf(row: InputRow, column: string): string | { readonly problem: string } {
  const value = fieldOf(row, column);
  if (value === undefined) return { problem: `${column}: there is no such column` };
  if (value instanceof Uint8Array) return decode(value) ?? { problem: `${column}: is not UTF-8` };
  return typeof value === 'string' ? value : { problem: `${column}: expected a string` };
}

/** Source text of an array or object in a row of JSONL, which preserves all digits; null: another value. */
export function jsonOf(row: InputRow, column: string): string | null {
  const value = fieldOf(row, column);
  if (typeof value !== 'object' || value === null) return null;
  const cells = row.json === null ? row.exact : exactMembers(row.json);
  const cell = cells?.get(column);
  return cell instanceof JsonText ? cell.text : null;
}

/** null: the bytes are not UTF-8. */
function decode(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** Names of the output columns of a classification. */
export interface ClassColumns {
  readonly label: string;
  readonly score: string;
  /** null: inputs of the task are never truncated. */
  readonly truncated: string | null;
}

/** Label and probability, rounded as in the batch route of the service. */
export function classificationFormat(
  columns: ClassColumns,
  labels: readonly string[],
  includesAllLabels: boolean,
): ResultFormat<Classification> {
  const isTruncated = ({ inference }: Classification) =>
    columns.truncated !== null && inference.truncated;
  const fields: ResultField<Classification>[] = [
    { name: columns.label, type: 'string', extract: ({ label }) => label },
    { name: columns.score, type: 'number', extract: ({ score }) => roundToFourDecimals(score) },
    {
      name: 'probabilities',
      type: 'number',
      parts: includesAllLabels ? labels : [],
      extract: ({ scores }) => Array.from(scores, roundToFourDecimals),
    },
  ];
  if (columns.truncated !== null) {
    fields.push({ name: columns.truncated, type: 'boolean', extract: isTruncated });
  }
  return {
    fields,
    labels,
    summarize: (result) => ({ labels: [result.label], truncated: isTruncated(result) }),
  };
}
