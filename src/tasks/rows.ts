import type { Member } from '../files/plan';
import type { ModelWindows } from '../files/readers/windows';
import type { Row } from '../files/rows';

/** Of a row of a file, what a task looks at. */
export type InputRow = Pick<Row, 'fields' | 'signal'>;

/** Which columns hold what. */
export interface InputColumns {
  readonly textColumn: string;
  /** null: there is no second text. */
  readonly pairColumn: string | null;
  readonly signalColumn: string;
}

/** What a row gives to the model, or why it gives nothing; that quotes nothing of it. */
export type Taken<Input> = { readonly input: Input } | { readonly problem: string };

/** How answers are written, and how a summary counts them. */
export interface AnswerFormat<Answer> {
  readonly members: readonly Member<Answer>[];
  /** Under which a summary counts them. */
  readonly labels: readonly string[];
  count(answer: Answer): { readonly label: string; readonly truncated: boolean };
}

/** A task's inputs and answers as rows of files. */
export interface Rows<Input, Answer, Known> {
  /** @param isWhole more than the essence is wanted: of a classifier the scores of all labels */
  format(about: Known, isWhole: boolean): AnswerFormat<Answer>;
  /** Columns that every row must have. */
  needed(columns: InputColumns): readonly string[];
  /** @param length samples of a window; of a text its limit in tokens, which nothing is held against */
  take(row: InputRow, columns: InputColumns, length: number): Taken<Input>;
  /** How long it is, for the order in which inputs run. */
  lengthOf(input: Input): number;
  /** null: a recording is no input of this task. */
  windowsOf(about: Known): ModelWindows | null;
}
