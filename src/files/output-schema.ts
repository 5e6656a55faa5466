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

/** Which columns the output has, and how the answer's are called. */
export class OutputSchema {
  /** Of the input; null: each row has its own (JSONL to JSONL). */
  readonly keptColumns: readonly Column[] | null;
  /** Columns of the answer in a table, with the prefix. */
  readonly resultColumns: readonly ResultColumn[];
  /** As the plan has them, with the prefix. */
  readonly resultFields: readonly ResultField[];
  readonly #plan: JobSpec;

  constructor(plan: JobSpec, kept: readonly Column[] | null) {
    const { options, format } = plan;
    this.#plan = plan;
    this.keptColumns = kept;
    this.resultFields = format.fields.map((one) => ({ ...one, name: options.prefix + one.name }));
    this.resultColumns = [
      ...this.resultFields.filter(({ parts }) => !parts),
      ...this.resultFields.flatMap(({ name, type, parts = [] }) =>
        parts.map((part) => ({ name: `${name}.${part}`, type })),
      ),
    ];
  }

  /** The values of `columns`. */
  resultCells(answer: unknown): readonly unknown[] {
    const [whole, parted]: [unknown[], unknown[]] = [[], []];
    for (const { parts, extract } of this.resultFields) {
      if (!parts) whole.push(extract(answer));
      else if (parts.length > 0) parted.push(...(extract(answer) as unknown[]));
    }
    return [...whole, ...parted];
  }

  /** Columns of one row that are kept where each row has its own. */
  keptNames(row: Row): readonly string[] {
    const { options, format } = this.#plan;
    const { keep } = options;
    if (keep !== 'all') return keep.filter((name) => Object.hasOwn(row.fields, name));
    return Object.keys(row.fields).filter((name) => !format.omittedColumns.includes(name));
  }

  /** Rejects rows that cannot be written, and lets go of what of the others the output does not need. */
  prepare(results: readonly RowResult[]): void {
    for (const result of results) {
      if (result.row && result.problem === null) result.problem = this.#problemOf(result.row);
      result.row = result.row && result.problem === null ? this.#slim(result.row) : null;
    }
  }

  /** Why a row cannot be written as the layout has it; null: it can. */
  #problemOf(row: Row): string | null {
    if (this.keptColumns === null) {
      const names = this.keptNames(row);
      return clashOf(names, this.resultFields);
    }
    for (const { name, type } of this.keptColumns) {
      const cell = cellOf(row, name);
      if (hasLoneSurrogate(cell)) return `${name}: has half a surrogate pair, which is not UTF-8`;
      if (!fits(cell, type)) return `${name}: expected ${WORDS[type]}`;
    }
    if (this.#plan.options.keep !== 'all') return null;
    const known = new Set(this.keptColumns.map(({ name }) => name));
    const other = this.keptNames(row).find((name) => !known.has(name));
    if (other === undefined) return null;
    return `${other}: a column that the first rows do not have; name those that you want with --keep`;
  }

  #slim(row: Row): Row {
    if (row.json !== null) return { ...row, fields: {}, exact: undefined, signal: null };
    const fields: { [name: string]: unknown } = Object.create(null);
    for (const name of this.keptColumns?.map(({ name }) => name) ?? this.keptNames(row)) {
      fields[name] = cellOf(row, name);
    }
    return { ...row, fields, exact: undefined, signal: null };
  }
}

/**
 * The layout of a run, by its first rows.
 *
 * @param files columns that files say before their rows, by the names of the files
 * @throws UsageError where columns would have the same name, or one that the format cannot hold
 */
export function inferOutputSchema(
  plan: JobSpec,
  first: readonly Row[],
  files: ReadonlyMap<string, readonly SourceColumn[]>,
): OutputSchema {
  const { outputFormat, keep } = plan.options;
  const free = new OutputSchema(plan, null);
  if (outputFormat === 'jsonl') {
    requireNoClash(first[0] ? free.keptNames(first[0]) : [], free.resultFields);
    return free;
  }
  const names = new Set(keep === 'all' ? first.flatMap((row) => free.keptNames(row)) : keep);
  if (keep === 'all' && first.length > 0) requireSameColumns(files, names);
  requireNoClash([...names], free.resultColumns);
  const broken = [...names].find(hasLoneSurrogate);
  if (broken !== undefined) {
    throw new UsageError(
      `${JSON.stringify(broken)}: the name is not UTF-8: leave it out with --keep`,
    );
  }
  const said = [...files.values()].flat();
  // Cells of CSV are text, whatever they were.
  const type = (name: string) => (outputFormat === 'csv' ? 'json' : typeOf(first, name, said));
  const kept = [...names].map((name) => ({ name, type: type(name) }));
  return new OutputSchema(plan, kept);
}

function requireNoClash(kept: readonly string[], answers: readonly ResultColumn[]): void {
  const clash = clashOf(kept, answers);
  if (clash !== null) throw new UsageError(clash);
}

/** Why a column of the input cannot be kept beside those of the answer; null: each can. */
function clashOf(kept: readonly string[], answers: readonly ResultColumn[]): string | null {
  const twice = kept.find((name) => answers.some((answer) => answer.name === name));
  return twice === undefined
    ? null
    : `${twice}: a column of the input is called like one of the answer: use --prefix, or --keep others`;
}

function requireSameColumns(
  files: ReadonlyMap<string, readonly SourceColumn[]>,
  names: ReadonlySet<string>,
): void {
  for (const [file, columns] of files) {
    const other = columns.find(({ name }) => !names.has(name));
    if (other === undefined) continue;
    throw new UsageError(
      `${file}: has a column “${other.name}” that others do not have: use --keep`,
    );
  }
}

/** The type that the files say; of files that say none, the one of the first rows. */
function typeOf(rows: readonly Row[], name: string, said: readonly SourceColumn[]): ColumnType {
  const values = rows.map((row) => cellOf(row, name)).filter((value) => value != null);
  const types = new Set(said.filter((column) => column.name === name).map(({ type }) => type));
  if (types.size === 0 && values.length === 0) return 'json';
  return (
    COLUMN_TYPES.find(
      (one) =>
        [...types].every((type) => holds(one, type)) && values.every((value) => fits(value, one)),
    ) ?? 'json'
  );
}

/** Whether values of the second type may be of the first. An integer that no double holds is then a reject. */
function holds(type: ColumnType, other: ColumnType): boolean {
  if (type === other || type === 'json') return true;
  return type === 'number' && (other === 'integer' || other === 'unsigned');
}

const WORDS: Readonly<Record<ColumnType, string>> = {
  string: 'a string, as in the first rows',
  integer: 'an integer of up to 64 bits, as in the first rows',
  unsigned: 'an integer of up to 64 bits without a sign, as in the first rows',
  number: 'a number that a double holds, as in the first rows',
  boolean: 'true or false, as in the first rows',
  time: 'a time, as in the first rows',
  json: 'a value',
};

function fits(value: unknown, type: ColumnType): boolean {
  if (value === undefined || value === null) return true;
  switch (type) {
    case 'string':
      return typeof value === 'string' || value instanceof Uint8Array;
    case 'boolean':
      return typeof value === type;
    case 'integer':
    case 'unsigned': {
      const integer = toExactInteger(value);
      if (integer === null) return false;
      return (
        (type === 'integer' ? BigInt.asIntN(64, integer) : BigInt.asUintN(64, integer)) === integer
      );
    }
    case 'number':
      return toExactDouble(value) !== null;
    case 'time':
      return value instanceof Timestamp && BigInt.asIntN(64, value.millis) === value.millis;
    case 'json':
      return true;
  }
}

/** UTF-8 has none; JSON of arrays and objects writes it as an escape. */
function hasLoneSurrogate(value: unknown): boolean {
  return typeof value === 'string' && /\p{Surrogate}/u.test(value);
}
