import type { FileOptions } from '../../files/formats';
import type { RowFormat } from '../../files/job-spec';
import type { TaskModel } from '../../tasks/task-model';
import type { RowModel } from './rows/rows';

/** Inference of a loaded model on rows. */
export interface RowTask extends RowFormat, Omit<RowModel, keyof RowFormat> {
  readonly model: Pick<TaskModel, 'metadata' | 'monitor' | 'drop' | 'close'>;
}

/** A batch job over files. */
export interface BatchJob {
  /** Name of the service or command, for the summary. */
  readonly service: string;
  /** Disclaimer of the task; null: no disclaimer. */
  readonly notice: string | null;
  readonly options: FileOptions;
  /** Flags and settings that determine the output bytes; `--resume` requires the same values. */
  readonly identity: Readonly<Record<string, unknown>>;
  /** Version of the package. */
  readonly version: string;
  /** Time without a finished batch after which a model is hung, in ms. */
  readonly stuckAfterMs: number;
  /** Paths of the model's files. */
  modelFiles(): readonly string[];
  load(): Promise<RowTask>;
}
