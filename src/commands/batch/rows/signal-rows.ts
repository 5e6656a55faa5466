import { type FlagValues, numberFlag } from '../../../files/flags';
import type { WindowOptions } from '../../../files/readers/recording-reader';
import { fieldOf } from '../../../files/rows';
import type { Classification, SignalMetadata } from '../../../tasks/capabilities';

import type { SignalInput } from '../../../tasks/signal-classification/window-preparation';
import { ALL_LABELS_FLAG, classificationFormat, type RowInput, type TaskRows } from './rows';

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
      help: 'hop size of recordings (default: the window length)',
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
        windowing: { model: model.metadata.settings, options },
        toInput: (row) =>
          row.signal
            ? { input: Array.from(row.signal) }
            : samplesOf(fieldOf(row, signalColumn), signalColumn, model.maxLength),
        inputLength: () => 0,
        run: (input) => model.run(input, {}),
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
