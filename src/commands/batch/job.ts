import type { FileOptions } from '../../files/formats';
import type { RowFormat } from '../../files/job-spec';
import type { TaskModel } from '../../tasks/task-model';
import type { RowModel } from './rows/rows';

/** What a command asks a loaded model of each row. */
export interface RowTask extends RowFormat, Omit<RowModel, keyof RowFormat> {
  readonly model: Pick<TaskModel, 'metadata' | 'monitor' | 'drop' | 'close'>;
}

/** What a command asks of files. */
export interface BatchJob {
  /** Of what is asked, for the summary. */
  readonly service: string;
  /** For people, what answers are not. */
  readonly notice: string | null;
  readonly options: FileOptions;
  /** Of the command line and the settings, all that the bytes of the output depend on. */
  readonly identity: Readonly<Record<string, unknown>>;
  /** Of this package. */
  readonly version: string;
  /** A batch that comes back at all has come back by then. */
  readonly stuckAfterMs: number;
  /** That the model is loaded from. */
  modelFiles(): readonly string[];
  load(): Promise<RowTask>;
}
