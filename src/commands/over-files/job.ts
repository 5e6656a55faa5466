import type { AnswerFormat } from '../../files/answers';
import type { Cutting } from '../../files/readers/windows';
import type { Row } from '../../files/rows';
import type { Taken } from '../../tasks/rows';
import type { FileOptions } from './options';

/** What a command asks a loaded model of each row. */
export interface RowTask<Input = unknown, Answer = unknown> extends AnswerFormat<Answer> {
  readonly model: { readonly name: string | null; readonly version: string | null };
  /** All that answers are counted under. */
  readonly labels: readonly string[];
  /** Columns that every row must have. */
  readonly needed: readonly string[];
  /** Of these, those that are left out of the output where all columns are kept. */
  readonly omitted: readonly string[];
  /** How recordings become rows; null: they do not. */
  readonly cutting: Cutting | null;
  take(row: Row): Taken<Input>;
  /** How long it is, for the order in which inputs run. */
  lengthOf(input: Input): number;
  /** @throws EngineError */
  run(input: Input): Promise<Answer>;
  /** How long the model has been running on a batch that it was given up on, in ms; 0: there is none. */
  stuckMs(): number;
  /** What has not begun to run is dropped. */
  close(): Promise<void>;
}

/** What a command asks of files. */
export interface Job {
  readonly service: string;
  /** For people, what answers are not. */
  readonly notice: string | null;
  readonly options: FileOptions;
  /** Of the command line and the settings, all that the bytes of the output depend on. */
  readonly decisive: Readonly<Record<string, unknown>>;
  /** Of this package. */
  readonly version: string;
  /** A batch that comes back at all has come back by then. */
  readonly stuckAfterMs: number;
  /** That the model is loaded from. */
  modelFiles(): readonly string[];
  /** @param warn one line that a person should know */
  load(warn: (line: string) => void): Promise<RowTask>;
}
