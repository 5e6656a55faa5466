import type { SchedulingOptions, TextInput } from '../../native/engine';
import type { Config } from '../../settings/config';
import { EegClassifier } from '../../tasks/signal-classification/eeg-classifier';
import { TextClassifier } from '../../tasks/text-classification/text-classifier';
import { isBlank } from '../../tasks/text-classification/whitespace';
import type { Options } from './options';
import { fieldOf, type Row } from './rows';

/** What the model says of one row. */
export interface Answer {
  readonly label: string;
  /** Not rounded. */
  readonly score: number;
  /** Of all labels, in their order. */
  readonly scores: Float32Array;
  readonly truncated: boolean;
}

/** What a row gives to the model, or why it gives nothing; that quotes nothing of it. */
export type Taken<Input> = { readonly input: Input } | { readonly problem: string };

/** One service's way from rows to answers. */
export interface Task<Input = unknown> {
  readonly labels: readonly string[];
  /** How the batch route of the service calls them. */
  readonly names: {
    readonly label: string;
    readonly score: string;
    readonly truncated: string | null;
  };
  /** Columns that every row must have. */
  readonly needed: readonly string[];
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

export async function loadText(
  config: Config,
  options: Options,
): Promise<{ readonly task: Task<string | TextInput>; readonly model: TextClassifier }> {
  const model = await TextClassifier.load(config.sentimentModelDir, scheduling(config));
  const { textColumn, pairColumn } = options;
  const task: Task<string | TextInput> = {
    labels: model.labels,
    names: { label: 'label', score: 'score', truncated: 'truncated' },
    needed: pairColumn === null ? [textColumn] : [textColumn, pairColumn],
    take: (row) => {
      const text = textOf(row, textColumn);
      if (typeof text !== 'string') return text;
      if (isBlank(text)) return { problem: `${textColumn}: is empty` };
      if (pairColumn === null) return { input: text };
      // It may be blank, or null: then there is none, as on the routes.
      const pair = fieldOf(row, pairColumn) === null ? '' : textOf(row, pairColumn);
      return typeof pair === 'string' ? { input: { text, pair } } : pair;
    },
    lengthOf: (input) =>
      typeof input === 'string' ? input.length : input.text.length + (input.pair?.length ?? 0),
    run: async (input) => {
      const { label, score, scores, inference } = await model.classify(input, {});
      return { label, score, scores, truncated: inference.truncated };
    },
    stuckMs: () => model.monitor.stuckMs,
    close: () => {
      model.drop();
      return model.close();
    },
  };
  return { task, model };
}

function textOf(row: Row, column: string): string | { readonly problem: string } {
  const value = fieldOf(row, column);
  if (value === undefined) return { problem: `${column}: there is no such column` };
  return typeof value === 'string' ? value : { problem: `${column}: expected a string` };
}

export async function loadEeg(
  config: Config,
  options: Options,
): Promise<{ readonly task: Task<readonly number[]>; readonly model: EegClassifier }> {
  const model = await EegClassifier.load(config.eegModelPath, scheduling(config));
  const { windowLength, classes } = model.settings;
  const { signalColumn } = options;
  const task: Task<readonly number[]> = {
    labels: classes,
    names: { label: 'diagnosis', score: 'confidence', truncated: null },
    needed: [signalColumn],
    take: (row) => {
      if (row.signal) return { input: Array.from(row.signal) };
      return samplesOf(fieldOf(row, signalColumn), signalColumn, windowLength);
    },
    lengthOf: () => 0,
    run: async (input) => {
      const { diagnosis, confidence, probabilities } = await model.classify(input, {});
      return { label: diagnosis, score: confidence, scores: probabilities, truncated: false };
    },
    stuckMs: () => model.monitor.stuckMs,
    close: () => {
      model.drop();
      return model.close();
    },
  };
  return { task, model };
}

function samplesOf(value: unknown, column: string, length: number): Taken<readonly number[]> {
  if (value === undefined) return { problem: `${column}: there is no such column` };
  if (!Array.isArray(value)) return { problem: `${column}: expected an array of numbers` };
  if (value.length !== length) {
    return { problem: `${column}: expected ${length} samples, found ${value.length}` };
  }
  const bad = value.findIndex((sample) => !Number.isFinite(sample));
  if (bad >= 0) return { problem: `${column}[${bad}]: expected a finite number` };
  return { input: value };
}

/** Nothing is refused: what is handed over is bounded here, and nobody waits for an answer in time. */
function scheduling({ scheduling }: Config): SchedulingOptions {
  return { ...scheduling, maxQueueRequests: 2 ** 20, maxQueueWaitMs: 2 ** 31 - 1 };
}
