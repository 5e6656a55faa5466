import { roundToFourDecimals } from '../../numeric/rounding';
import type { Item } from './chunks';
import { UsageError } from './errors';
import { keepsLines, type Options } from './options';
import { fieldOf, type Row } from './rows';
import type { Answer, Task } from './task';

/** What a column of the output holds; JSON: what is of no one kind. */
export const COLUMN_TYPES = ['string', 'integer', 'number', 'boolean', 'time', 'json'] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** A row with its answer, and nothing that the output does not need. */
export interface Answered {
  readonly row: Row;
  readonly answer: Answer;
}

/** Which columns the output has, and how the answer's are called. */
export class Layout {
  /** Of the input; null: each row has its own (JSONL to JSONL). */
  readonly kept: readonly Column[] | null;
  readonly answers: readonly Column[];
  readonly labels: readonly string[];
  readonly names: Task['names'];
  /** Columns that are left out where all others are kept. */
  readonly #omitted: ReadonlySet<string>;
  readonly #options: Options;
  readonly #taken: ReadonlySet<string>;

  constructor(options: Options, task: Task, kept: readonly Column[] | null) {
    const { prefix, allLabels } = options;
    const { label, score, truncated } = task.names;
    this.#options = options;
    this.kept = kept;
    this.labels = allLabels ? task.labels : [];
    this.names = {
      label: prefix + label,
      score: prefix + score,
      truncated: truncated && prefix + truncated,
    };
    this.answers = [
      { name: this.names.label, type: 'string' },
      { name: this.names.score, type: 'number' },
      ...(this.names.truncated ? [{ name: this.names.truncated, type: 'boolean' } as const] : []),
      ...this.labels.map((name) => ({ name: this.nameOf(name), type: 'number' }) as const),
    ];
    this.#omitted = new Set(options.service === 'eeg' ? [options.signalColumn] : []);
    const { names } = this;
    this.#taken = new Set([names.label, names.score, names.truncated ?? '', this.probabilities]);
  }

  /** Of the object that holds the probabilities, in JSON. */
  get probabilities(): string {
    return `${this.#options.prefix}probabilities`;
  }

  /** Of the column of one label's probability, in tables. */
  nameOf(label: string): string {
    return `${this.probabilities}.${label}`;
  }

  /** Whether a line of JSON goes into the output as it is. */
  get keepsLines(): boolean {
    return keepsLines(this.#options);
  }

  /** Columns of one row that are kept where each row has its own. */
  keptOf(row: Row): readonly string[] {
    const { keep } = this.#options;
    const there = Object.keys(row.fields);
    if (keep !== 'all') return keep.filter((name) => Object.hasOwn(row.fields, name));
    return there.filter((name) => !this.#omitted.has(name));
  }

  /** Why a row cannot be written as the layout has it; null: it can. */
  problemOf(row: Row): string | null {
    if (this.kept === null) {
      if (this.keepsLines && row.json !== null) return this.#clash(Object.keys(row.fields));
      const names = this.keptOf(row);
      return this.#clash(names) ?? inexact(row, names);
    }
    for (const column of this.kept) {
      const value = fieldOf(row, column.name);
      if (!fits(value, column.type)) return `${column.name}: expected ${WORDS[column.type]}`;
    }
    if (this.#options.keep !== 'all') return null;
    const known = new Set(this.kept.map(({ name }) => name));
    const other = this.keptOf(row).find((name) => !known.has(name));
    if (other === undefined) return null;
    return `${other}: a column that the first rows do not have; name those that you want with --keep`;
  }

  /** Rejects rows that cannot be written, and lets go of what of the others the output does not need. */
  prepare(items: readonly Item[]): void {
    for (const item of items) {
      if (item.row && item.problem === null) item.problem = this.problemOf(item.row);
      item.row = item.row && item.problem === null ? this.#slim(item.row) : null;
    }
  }

  #slim(row: Row): Row {
    if (this.keepsLines && row.json !== null) return { ...row, fields: {}, signal: null };
    const names = this.kept?.map(({ name }) => name) ?? this.keptOf(row);
    const fields: { [name: string]: unknown } = Object.create(null);
    for (const name of names) fields[name] = fieldOf(row, name);
    return { ...row, fields, json: null, signal: null };
  }

  #clash(names: readonly string[]): string | null {
    const twice = names.find((name) => this.#taken.has(name));
    return twice === undefined ? null : clashOf(twice);
  }
}

/** @returns the value of an answer's columns, in their order */
export function answerValues(answer: Answer, layout: Layout): (string | number | boolean)[] {
  const values: (string | number | boolean)[] = [answer.label, roundToFourDecimals(answer.score)];
  if (layout.names.truncated) values.push(answer.truncated);
  for (let i = 0; i < layout.labels.length; i++) {
    values.push(roundToFourDecimals(answer.scores[i] as number));
  }
  return values;
}

/**
 * The layout of a run, by its first rows.
 *
 * @param files columns that files say before their rows, by the names of the files
 * @throws UsageError where columns would have the same name
 */
export function makeLayout(
  options: Options,
  task: Task,
  first: readonly Row[],
  files: ReadonlyMap<string, readonly string[]>,
): Layout {
  const free = new Layout(options, task, null);
  if (options.outputFormat === 'jsonl') {
    requireNoClash(
      first.slice(0, 1).flatMap((row) => free.keptOf(row)),
      [...[free.names.label, free.names.score, free.names.truncated ?? ''], free.probabilities],
    );
    return free;
  }
  const names = new Set<string>(options.keep === 'all' ? [] : options.keep);
  if (options.keep === 'all') {
    for (const row of first) for (const name of free.keptOf(row)) names.add(name);
    requireSameColumns(files, names, first.length > 0);
  }
  // Cells of CSV are text, whatever they were.
  const type = (name: string) => (options.outputFormat === 'csv' ? 'json' : typeOf(first, name));
  const columns = [...names].map((name) => ({ name, type: type(name) }));
  const layout = new Layout(options, task, columns);
  requireNoClash(
    columns.map(({ name }) => name),
    layout.answers.map(({ name }) => name),
  );
  return layout;
}

function requireNoClash(kept: readonly string[], answers: readonly string[]): void {
  const twice = kept.find((name) => answers.includes(name));
  if (twice !== undefined) throw new UsageError(clashOf(twice));
}

function clashOf(name: string): string {
  return `${name}: a column of the input is called like one of the answer: use --prefix, or --keep others`;
}

function requireSameColumns(
  files: ReadonlyMap<string, readonly string[]>,
  names: ReadonlySet<string>,
  isKnown: boolean,
): void {
  if (!isKnown) return;
  for (const [file, columns] of files) {
    const other = columns.find((name) => !names.has(name));
    if (other === undefined) continue;
    throw new UsageError(`${file}: has a column “${other}” that others do not have: use --keep`);
  }
}

function typeOf(rows: readonly Row[], name: string): ColumnType {
  const values = rows.map((row) => fieldOf(row, name)).filter((value) => value != null);
  if (values.length === 0) return 'json';
  const type = COLUMN_TYPES.find((one) => values.every((value) => fits(value, one)));
  return type ?? 'json';
}

const WORDS: Readonly<Record<ColumnType, string>> = {
  string: 'a string, as in the first rows',
  integer: 'an integer of up to 64 bits, as in the first rows',
  number: 'a number, as in the first rows',
  boolean: 'true or false, as in the first rows',
  time: 'a time, as in the first rows',
  json: 'a value',
};

function fits(value: unknown, type: ColumnType): boolean {
  if (value === undefined || value === null) return true;
  switch (type) {
    case 'string':
      return typeof value === 'string';
    case 'integer':
      return typeof value === 'bigint' || Number.isSafeInteger(value);
    case 'number':
      // What JSON writes as an integer beyond 2^53 has already lost digits.
      return typeof value === 'number' && isExact(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'time':
      return value instanceof Date;
    case 'json':
      return typeof value !== 'number' || isExact(value);
  }
}

function isExact(value: number): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21;
}

function inexact(row: Row, names: readonly string[]): string | null {
  const name = names.find((one) => !fits(row.fields[one], 'json'));
  return name === undefined
    ? null
    : `${name}: an integer beyond 2^53 would lose digits: write it as a string`;
}
