import type { Config, ServiceName } from '../settings/config';
import { signalClassification } from '../tasks/signal-classification/signal-classification-task';
import type { Task } from '../tasks/task';
import { textClassification } from '../tasks/text-classification/text-classification-task';

/** Task and model of a service that serves one model. */
export interface Preset {
  readonly task: Task;
  /** Path of the model: a folder or a file. */
  readonly modelPath: (config: Config) => string;
}

export const PRESETS: Readonly<Record<ServiceName, Preset>> = {
  sentiment: { task: textClassification, modelPath: (config) => config.sentimentModelDir },
  eeg: { task: signalClassification, modelPath: (config) => config.eegModelPath },
};

/** Name of the single-model service of a task; null: no such service. */
export function serviceOfTask(task: Task): ServiceName | null {
  const names = Object.keys(PRESETS) as ServiceName[];
  return names.find((name) => PRESETS[name].task === task) ?? null;
}
