import type { Flags, FlagValues } from '../files/flags';
import type { OutputFormat } from '../files/formats';
import type { ResultField } from '../files/job-spec';
import type { ModelInput, WindowOptions } from '../files/readers/recording-reader';
import type { Row } from '../files/rows';
import type { ModelMetadata, Predictor } from './capabilities';

/** Of a row of a file, what a task looks at. */
export type InputRow = Pick<Row, 'fields' | 'signal'>;

/** What a row gives to the model, or why it gives nothing; that quotes nothing of it. */
export type Taken<Input> = { readonly input: Input } | { readonly problem: string };

/** How answers are written, and how a summary counts them. */
export interface AnswerFormat<Answer> {
  readonly fields: readonly ResultField<Answer>[];
  /** Under which a summary counts them, those of no answer included. */
  readonly labels: readonly string[];
  summarize(answer: Answer): { readonly labels: readonly string[]; readonly truncated: boolean };
}

/**
 * What a loaded model is asked of rows.
 *
 * @typeParam Written of one row, what is kept until it is written
 */
export interface BoundRows<Input = unknown, Written = unknown> extends AnswerFormat<Written> {
  /** Of the columns that every row must have, those that the output leaves out where it keeps all. */
  readonly omittedColumns: readonly string[];
  /** How recordings are cut into windows; null: they are no input of this task. */
  readonly windowing: { readonly model: ModelInput; readonly options: WindowOptions } | null;
  take(row: InputRow): Taken<Input>;
  /** How long it is, for the order in which inputs run. */
  lengthOf(input: Input): number;
  /** @throws EngineError */
  run(input: Input): Promise<Written>;
}

/** What a command line asks of rows. */
export interface AskedRows<Input, Answer, Metadata extends ModelMetadata> {
  /** Columns that every row must have. */
  readonly requiredColumns: readonly string[];
  /** All that the bytes of the output depend on, by name: a run goes on with the same alone. */
  readonly decisive: Readonly<Record<string, unknown>>;
  /** @throws UsageError: the model does not have what is asked for */
  bind(
    model: Pick<
      Predictor<Input, Answer, Metadata>,
      'metadata' | 'maxLength' | 'vocabulary' | 'run'
    >,
  ): BoundRows<Input>;
}

/** A task's inputs and answers as rows of files. */
export interface Rows<Input, Answer, Metadata extends ModelMetadata> {
  /** Beside those that all commands over files have. */
  readonly flags: Flags;
  /** Beside those of all tasks. */
  readonly formats: readonly OutputFormat[];
  readonly readsRecordings: boolean;
  /** @throws UsageError */
  read(values: FlagValues): AskedRows<Input, Answer, Metadata>;
}
