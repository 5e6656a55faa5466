import type { FileOptions } from '../../files/formats';
import type { RowFormat } from '../../files/plan';
import type { Row } from '../../files/rows';
import type { AnswerFormat, Taken } from '../../tasks/rows';
import type { TaskModel } from '../../tasks/task-model';

/** What a command asks a loaded model of each row. */
export interface RowTask<Input = unknown, Answer = unknown>
  extends RowFormat<Answer>,
    AnswerFormat<Answer> {
  readonly model: Pick<TaskModel<Input, Answer>, 'about' | 'monitor' | 'run' | 'drop' | 'close'>;
  take(row: Row): Taken<Input>;
  /** How long it is, for the order in which inputs run. */
  lengthOf(input: Input): number;
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
  load(): Promise<RowTask>;
}
