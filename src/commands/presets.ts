import type { Config, ServiceName } from '../settings/config';
import { signalClassification } from '../tasks/signal-classification/signal-classification-task';
import type { Task } from '../tasks/task';
import { textClassification } from '../tasks/text-classification/text-classification-task';

/** What the name of a command stands for. */
export interface Preset {
  readonly task: Task;
  /** Where its model is. */
  readonly modelPath: (config: Config) => string;
}

export const PRESETS: Readonly<Record<ServiceName, Preset>> = {
  sentiment: { task: textClassification, modelPath: (config) => config.sentimentModelDir },
  eeg: { task: signalClassification, modelPath: (config) => config.eegModelPath },
};

/** The service of a task alone; null: there is none. */
export function serviceOfTask(task: Task): ServiceName | null {
  const names = Object.keys(PRESETS) as ServiceName[];
  return names.find((name) => PRESETS[name].task === task) ?? null;
}
