import type { Column } from '../../files/answers';
import type { SchedulingOptions } from '../../native/engine';
import { roundToFourDecimals } from '../../numeric/rounding';
import type { Config } from '../../settings/config';
import type { Classification } from '../../tasks/abilities';
import type { Rows } from '../../tasks/rows';
import { TaskModel } from '../../tasks/task-model';
import type { RowTask } from '../over-files/job';
import { PRESETS } from '../presets';
import type { Options } from './options';

/** Loads the model of a service. @throws ModelFileError, EngineError */
export async function loadTask(
  config: Config,
  options: Options,
  warn: (line: string) => void,
): Promise<RowTask<unknown, Classification>> {
  const { task, placeOf } = PRESETS[options.service];
  const { rows } = task;
  const model = await TaskModel.load(task, placeOf(config), scheduling(config));
  model.warnings.forEach(warn);
  const { name, version, labels } = model.about;
  const windows = rows.windowsOf(model.about);
  const needed = rows.needed(options);
  return {
    ...classFormat(rows.names, labels, options.allLabels),
    model: { name, version },
    labels,
    needed,
    // Of a window its samples would be most of the output.
    omitted: windows ? needed : [],
    cutting: windows && {
      windowLength: windows.windowLength,
      step: options.step ?? windows.windowLength,
      channel: options.channel,
      modelChannel: windows.channel,
      modelRate: windows.samplingRateHz,
      givenRate: options.samplingRate,
      resample: options.resample,
      note: warn,
    },
    take: (row) => rows.take(row, options, model.maxLength),
    lengthOf: rows.lengthOf,
    run: (input) => model.run(input, {}) as Promise<Classification>,
    stuckMs: () => model.monitor.stuckMs,
    close: () => {
      model.drop();
      return model.close();
    },
  };
}

/** A class with its probability, as the batch route of the service has it. */
function classFormat(
  { label, score, truncated }: Rows<unknown, unknown>['names'],
  labels: readonly string[],
  allLabels: boolean,
) {
  const cut = truncated === null ? [] : [truncated];
  const shown = allLabels ? labels : [];
  const all = ({ scores }: Classification) =>
    shown.map((_, i) => roundToFourDecimals(scores[i] as number));
  const columns: Column[] = [
    { name: label, type: 'string' },
    { name: score, type: 'number' },
    ...cut.map((name) => ({ name, type: 'boolean' }) as const),
    ...shown.map((name) => ({ name: `probabilities.${name}`, type: 'number' }) as const),
  ];
  return {
    members: [label, score, 'probabilities', ...cut],
    toMembers: (answer: Classification) => [
      answer.label,
      roundToFourDecimals(answer.score),
      allLabels ? Object.fromEntries(all(answer).map((value, i) => [labels[i], value])) : undefined,
      ...cut.map(() => answer.inference.truncated),
    ],
    columns,
    toCells: (answer: Classification) => [
      answer.label,
      roundToFourDecimals(answer.score),
      ...cut.map(() => answer.inference.truncated),
      ...all(answer),
    ],
    count: ({ label, inference }: Classification) => ({
      label,
      truncated: cut.length > 0 && inference.truncated,
    }),
  };
}

/** Nothing is refused: what is handed over is bounded here, and nobody waits for an answer in time. */
function scheduling({ scheduling }: Config): SchedulingOptions {
  return { ...scheduling, maxQueueRequests: 2 ** 20, maxQueueWaitMs: 2 ** 31 - 1 };
}
