import { type FlagValues, numberFlag } from '../../files/flags';
import type { WindowOptions } from '../../files/readers/recording-reader';
import { fieldOf } from '../../files/rows';
import type { Classification, ClassifierMetadata } from '../capabilities';
import { ALL_LABELS, classFormat } from '../classifier-rows';
import type { Rows, Taken } from '../rows';
import type { ModelSettings } from './model-settings';

/** Of a signal model; its labels are the settings' classes. */
export interface SignalMetadata extends ClassifierMetadata {
  readonly settings: ModelSettings;
}

const COLUMNS = { label: 'diagnosis', score: 'confidence', truncated: null };
const SAMPLES = { form: /^[1-9]\d{0,6}$/, what: 'a whole number of samples above 0' };
const RATE = { form: /^\d*[1-9]\d*(\.\d+)?$/, what: 'a rate in Hz' };

export const signalRows: Rows<readonly number[], Classification, SignalMetadata> = {
  flags: {
    'signal-column': { value: 'NAME', help: 'of the samples of a window (default: signal)' },
    ...ALL_LABELS,
    channel: {
      value: 'NAME',
      help: "of recordings (default: the model's; one without a name if it is alone)",
    },
    step: {
      value: 'SAMPLES',
      help: 'from one window of a recording to the next (default: a window)',
    },
    'sampling-rate': { value: 'HZ', help: 'of recordings that do not say it' },
    resample: { help: "recordings at another rate than the model's" },
  },
  formats: [],
  readsRecordings: true,
  read: (values) => {
    const signalColumn = values.get('signal-column') ?? 'signal';
    const allLabels = values.has('all-labels');
    const options = cuttingOf(values);
    return {
      requiredColumns: [signalColumn],
      decisive: { signalColumn, allLabels, ...options },
      bind: (model) => ({
        ...classFormat(COLUMNS, model.metadata.labels, allLabels),
        // Of a window its samples would be most of the output.
        omittedColumns: [signalColumn],
        windowing: { model: model.metadata.settings, options },
        take: (row) =>
          row.signal
            ? { input: Array.from(row.signal) }
            : samplesOf(fieldOf(row, signalColumn), signalColumn, model.maxLength),
        lengthOf: () => 0,
        run: (input) => model.run(input, {}),
      }),
    };
  },
};

export function cuttingOf(values: FlagValues): WindowOptions {
  return {
    channel: values.get('channel') ?? null,
    step: numberFlag(values, 'step', SAMPLES),
    samplingRate: numberFlag(values, 'sampling-rate', RATE),
    resample: values.has('resample'),
  };
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
