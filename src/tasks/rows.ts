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

/** A task's inputs and answers as rows of files. */
export interface Rows<Input, Known> {
  /** How the batch route of the service calls what is answered; null: there is no such thing. */
  readonly names: {
    readonly label: string;
    readonly score: string;
    readonly truncated: string | null;
  };
  /** Columns that every row must have. */
  needed(columns: InputColumns): readonly string[];
  /** @param length samples of a window; of a text its limit in tokens, which nothing is held against */
  take(row: InputRow, columns: InputColumns, length: number): Taken<Input>;
  /** How long it is, for the order in which inputs run. */
  lengthOf(input: Input): number;
  /** null: a recording is no input of this task. */
  windowsOf(about: Known): ModelWindows | null;
}
