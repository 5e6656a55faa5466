import { type FlagValues, numberFlag } from '../../../files/flags';
import type { WindowResult } from '../../../files/job-spec';
import { splitChannel, type WindowOptions } from '../../../files/readers/recording-reader';
import { fieldOf, type Row } from '../../../files/rows';
import { PreprocessingError } from '../../../preprocessing/block';
import type { Classification, Predictor, SignalMetadata } from '../../../tasks/capabilities';
import { byName } from '../../../tasks/classification';

import {
  ChannelLengthError,
  type ChannelSignals,
  readChannelWindow,
} from '../../../tasks/signal-classification/channel-signals';
import type { ModelSettings } from '../../../tasks/signal-classification/model-settings';
import {
  ChannelWindow,
  type SignalInput,
} from '../../../tasks/signal-classification/window-preparation';
import { splitChannels } from './channel-recordings';
import {
  ALL_LABELS_FLAG,
  classificationFormat,
  type RowInput,
  type RowModel,
  type TaskRows,
} from './rows';

type SignalModel = Predictor<SignalInput, Classification, SignalMetadata>;

const COLUMNS = { label: 'diagnosis', score: 'confidence', truncated: null };
const SAMPLES = { form: /^[1-9]\d{0,6}$/, what: 'a whole number of samples above 0' };
const RATE = { form: /^\d*[1-9]\d*(\.\d+)?$/, what: 'a rate in Hz' };

export const signalRows: TaskRows<SignalInput, Classification, SignalMetadata> = {
  flags: {
    'signal-column': { value: 'NAME', help: 'column of the samples of a window (default: signal)' },
    ...ALL_LABELS_FLAG,
    channel: {
      value: 'NAME',
      help: 'channel of recordings (default: of the model, or the only channel)',
    },
    step: {
      value: 'SAMPLES',
      help: 'hop size of recordings (default: of the model, or the window length)',
    },
    'sampling-rate': { value: 'HZ', help: 'sampling rate of recordings that specify none' },
    resample: { help: 'resamples recordings to the sampling rate of the model' },
  },
  formats: [],
  readsRecordings: true,
  parse: (values) => {
    const signalColumn = values.get('signal-column') ?? 'signal';
    const allLabels = values.has('all-labels');
    const options = windowOptionsOf(values);
    return {
      requiredColumns: [signalColumn],
      identity: { signalColumn, allLabels, ...options },
      bind: (model) => ({
        ...classificationFormat(COLUMNS, model.metadata.labels, allLabels),
        // The samples would be most of the output.
        omittedColumns: [signalColumn],
        ...inputsOf(model, signalColumn, options),
        inputLength: () => 0,
        run: (input) => model.run(input, {}),
        summarize: (result: Classification, row: Pick<Row, 'window'>) => ({
          labels: [result.label],
          truncated: false,
          window: row.window && windowResult(result, row.window.expected, model.metadata.labels),
        }),
      }),
    };
  },
};

export function windowOptionsOf(values: FlagValues): WindowOptions {
  return {
    channel: values.get('channel') ?? null,
    step: numberFlag(values, 'step', SAMPLES),
    samplingRate: numberFlag(values, 'sampling-rate', RATE),
    resample: values.has('resample'),
  };
}

/** How rows and recordings become inputs of a model of one channel, or of several. */
function inputsOf(
  { metadata: { settings }, maxLength }: Pick<SignalModel, 'metadata' | 'maxLength'>,
  column: string,
  options: WindowOptions,
): Pick<RowModel<SignalInput>, 'split' | 'toInput'> {
  if (settings.channels === null) {
    return {
      split: (recording, warn) => splitChannel(recording, { model: settings, options }, warn),
      toInput: (row) =>
        row.signal ? { input: row.signal } : samplesOf(fieldOf(row, column), column, maxLength),
    };
  }
  return {
    split: (recording, warn) => splitChannels(recording, settings, options, warn),
    toInput: (row) =>
      row.signal
        ? { input: new ChannelWindow(row.signal, []) }
        : channelsOf(fieldOf(row, column), column, settings),
  };
}

function windowResult(
  { label, scores }: Classification,
  expected: string | null,
  labels: readonly string[],
): WindowResult {
  return {
    label,
    scores: byName(labels, scores),
    expected,
  };
}

/** A window of several channels, as an object of channels or as rows. */
function channelsOf(
  value: unknown,
  column: string,
  settings: ModelSettings,
): RowInput<SignalInput> {
  if (value === undefined) return { problem: `${column}: there is no such column` };
  if (typeof value !== 'object' || value === null) {
    return { problem: `${column}: expected an object of channels, or an array of channels` };
  }
  for (const [name, samples] of Object.entries(value)) {
    const place = Array.isArray(value) ? `${column}[${name}]` : `${column}.${name}`;
    if (!Array.isArray(samples)) return { problem: `${place}: expected an array of numbers` };
    const bad = samples.findIndex((sample) => !Number.isFinite(sample));
    if (bad >= 0) return { problem: `${place}[${bad}]: expected a finite number` };
  }
  try {
    return { input: readChannelWindow(settings, value as ChannelSignals, {}) };
  } catch (error) {
    if (!(error instanceof PreprocessingError)) throw error;
    const place = error instanceof ChannelLengthError ? error.place : '';
    return { problem: `${column}${place}: ${error.message}` };
  }
}

function samplesOf(value: unknown, column: string, length: number): RowInput<SignalInput> {
  if (value === undefined) return { problem: `${column}: there is no such column` };
  if (!Array.isArray(value)) return { problem: `${column}: expected an array of numbers` };
  if (value.length !== length) {
    return { problem: `${column}: expected ${length} samples, found ${value.length}` };
  }
  const bad = value.findIndex((sample) => !Number.isFinite(sample));
  if (bad >= 0) return { problem: `${column}[${bad}]: expected a finite number` };
  return { input: value };
}
