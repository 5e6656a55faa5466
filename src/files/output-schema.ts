import { Timestamp, toExactDouble, toExactInteger } from './cell-values';
import { UsageError } from './file-errors';
import {
  COLUMN_TYPES,
  type Column,
  type ColumnType,
  type JobSpec,
  type ResultColumn,
  type ResultField,
  type SourceColumn,
} from './job-spec';
import { cellOf, type Row, type RowResult } from './rows';

/** Columns of the output: kept input columns, then the fields of the prediction. */
export class OutputSchema {
  /** Kept input columns; null if each row has its own (JSONL output). */
  readonly keptColumns: readonly Column[] | null;
  /** Prediction columns of a table, with the prefix. */
  readonly resultColumns: readonly ResultColumn[];
  /** Prediction fields in output order, with the prefix. */
  readonly resultFields: readonly ResultField[];
  readonly #spec: JobSpec;

  constructor(spec: JobSpec, keptColumns: readonly Column[] | null) {
    const { options, format } = spec;
    this.#spec = spec;
    this.keptColumns = keptColumns;
    this.resultFields = format.fields.map((field) => ({
      ...field,
      name: options.prefix + field.name,
    }));
    this.resultColumns = [
      ...this.resultFields.filter(({ parts }) => !parts),
      ...this.resultFields.flatMap(({ name, type, parts = [] }) =>
        parts.map((part) => ({ name: `${name}.${part}`, type })),
      ),
    ];
  }

  /** Values of `resultColumns`. */
  resultCells(prediction: unknown): readonly unknown[] {
    const [undivided, divided]: [unknown[], unknown[]] = [[], []];
    for (const { parts, extract } of this.resultFields) {
      if (!parts) undivided.push(extract(prediction));
      else if (parts.length > 0) divided.push(...(extract(prediction) as unknown[]));
    }
    return [...undivided, ...divided];
  }

  /** Names of the kept columns that a row has. */
  keptNames(row: Row): readonly string[] {
    const { options, format } = this.#spec;
    const { keep } = options;
    if (keep !== 'all') return keep.filter((name) => Object.hasOwn(row.fields, name));
    return Object.keys(row.fields).filter((name) => !format.omittedColumns.includes(name));
  }

  /** Rejects rows that do not fit into the schema, and drops all data that the output does not need. */
  prepare(results: readonly RowResult[]): void {
    for (const result of results) {
      if (result.row && result.problem === null) result.problem = this.#findProblem(result.row);
      result.row = result.row && result.problem === null ? this.#trim(result.row) : null;
    }
  }

  /** Reason why a row does not fit into the schema; null if it fits. */
  #findProblem(row: Row): string | null {
    if (this.keptColumns === null) return findClash(this.keptNames(row), this.resultFields);
    for (const { name, type } of this.keptColumns) {
      const cell = cellOf(row, name);
      if (hasLoneSurrogate(cell))
        return `${name}: contains an unpaired surrogate, which is not valid UTF-8`;
      if (!fitsType(cell, type)) return `${name}: expected ${EXPECTED[type]}`;
    }
    if (this.#spec.options.keep !== 'all') return null;
    const names = new Set(this.keptColumns.map(({ name }) => name));
    const extra = this.keptNames(row).find((name) => !names.has(name));
    if (extra === undefined) return null;
    return `${extra}: this column is missing in the first rows. List the columns with --keep`;
  }

  #trim(row: Row): Row {
    if (row.json !== null) return { ...row, fields: {}, exact: undefined, signal: null };
    const fields: { [name: string]: unknown } = Object.create(null);
    for (const name of this.keptColumns?.map((column) => column.name) ?? this.keptNames(row)) {
      fields[name] = cellOf(row, name);
    }
    return { ...row, fields, exact: undefined, signal: null };
  }
}

/**
 * Infers the output schema of a job from its first rows.
 *
 * @param files columns of the input files with a header or schema, by file name
 * @throws UsageError for duplicate column names, or a column that the output format cannot store
 */
export function inferOutputSchema(
  spec: JobSpec,
  firstRows: readonly Row[],
  files: ReadonlyMap<string, readonly SourceColumn[]>,
): OutputSchema {
  const { outputFormat, keep } = spec.options;
  const schema = new OutputSchema(spec, null);
  if (outputFormat === 'jsonl') {
    requireNoClash(firstRows[0] ? schema.keptNames(firstRows[0]) : [], schema.resultFields);
    return schema;
  }
  const names = new Set(keep === 'all' ? firstRows.flatMap((row) => schema.keptNames(row)) : keep);
  if (keep === 'all' && firstRows.length > 0) requireSameColumns(files, names);
  requireNoClash([...names], schema.resultColumns);
  const invalid = [...names].find(hasLoneSurrogate);
  if (invalid !== undefined) {
    throw new UsageError(
      `${JSON.stringify(invalid)}: column name is not UTF-8. List the other columns with --keep`,
    );
  }
  const declared = [...files.values()].flat();
  const keptColumns = [...names].map((name) => ({
    name,
    // CSV stores all types as text.
    type: outputFormat === 'csv' ? 'json' : inferType(firstRows, name, declared),
  }));
  return new OutputSchema(spec, keptColumns);
}

function requireNoClash(kept: readonly string[], results: readonly ResultColumn[]): void {
  const clash = findClash(kept, results);
  if (clash !== null) throw new UsageError(clash);
}

/** Error message if an input column has the name of a prediction column; otherwise null. */
function findClash(kept: readonly string[], results: readonly ResultColumn[]): string | null {
  const name = kept.find((column) => results.some((result) => result.name === column));
  return name === undefined
    ? null
    : `${name}: name of an input column and of a result column. Use --prefix or --keep`;
}

function requireSameColumns(
  files: ReadonlyMap<string, readonly SourceColumn[]>,
  names: ReadonlySet<string>,
): void {
  for (const [file, columns] of files) {
    const extra = columns.find(({ name }) => !names.has(name));
    if (extra === undefined) continue;
    throw new UsageError(
      `${file}: column “${extra.name}” is missing in other inputs. List the columns with --keep`,
    );
  }
}

/** First column type that fits the declared types of the files and the values of the first rows. */
function inferType(
  rows: readonly Row[],
  name: string,
  declared: readonly SourceColumn[],
): ColumnType {
  const values = rows.map((row) => cellOf(row, name)).filter((value) => value != null);
  const types = new Set(declared.filter((column) => column.name === name).map(({ type }) => type));
  if (types.size === 0 && values.length === 0) return 'json';
  const isPossible = (type: ColumnType): boolean =>
    [...types].every((other) => accepts(type, other)) &&
    values.every((value) => fitsType(value, type));
  return COLUMN_TYPES.find(isPossible) ?? 'json';
}

/** Returns whether a column of `type` can store values of `other`. Integers that no double equals are rejected. */
function accepts(type: ColumnType, other: ColumnType): boolean {
  if (type === other || type === 'json') return true;
  return type === 'number' && (other === 'integer' || other === 'unsigned');
}

const EXPECTED: Readonly<Record<ColumnType, string>> = {
  string: 'a string, as in the first rows',
  integer: 'an integer of up to 64 bits, as in the first rows',
  unsigned: 'an unsigned integer of up to 64 bits, as in the first rows',
  number: 'a number that a double represents exactly, as in the first rows',
  boolean: 'true or false, as in the first rows',
  time: 'a time, as in the first rows',
  json: 'a value',
};

function fitsType(value: unknown, type: ColumnType): boolean {
  if (value === undefined || value === null) return true;
  switch (type) {
    case 'string':
      return typeof value === 'string' || value instanceof Uint8Array;
    case 'boolean':
      return typeof value === type;
    case 'integer':
    case 'unsigned': {
      const integer = toExactInteger(value);
      const wrap = type === 'integer' ? BigInt.asIntN : BigInt.asUintN;
      return integer !== null && wrap(64, integer) === integer;
    }
    case 'number':
      return toExactDouble(value) !== null;
    case 'time':
      return value instanceof Timestamp && BigInt.asIntN(64, value.millis) === value.millis;
    case 'json':
      return true;
  }
}

/** A lone surrogate has no UTF-8 encoding; JSON escapes it. */
function hasLoneSurrogate(value: unknown): boolean {
  return typeof value === 'string' && /\p{Surrogate}/u.test(value);
}
