import path from 'node:path';
import { planChannels } from '../../src/tasks/signal-classification/channel-plan';
import {
  parseModelSettings,
  readModelSettings,
} from '../../src/tasks/signal-classification/model-settings';

const CHANNELS = ['C3', 'Cz', 'C4'];
const GIVEN = { channels: CHANNELS, sampling_rate_hz: 128, window_length: 256 };

/** Message of the error for these keys; null: valid. */
function problemOf(keys: object): string | null {
  try {
    parseModelSettings(JSON.stringify({ ...GIVEN, ...keys }), 'm.json');
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const step = (type: string, keys: object = {}) => ({ preprocess: [{ type, ...keys }] });

describe('settings of models of several channels', () => {
  it.each<readonly [object, string | RegExp]>([
    [{ channels: [] }, 'm.json: channels: expected at least one channel'],
    [{ channels: ['a', 'a'] }, 'm.json: channels[1]: expected a name of its own, found "a" again'],
    [{ channels: 3 }, 'm.json: channels: expected an array of channel names, found 3'],
    [
      { channels: Array.from({ length: 513 }, (_, i) => `E${i}`) },
      /channels: expected up to 512 channels$/,
    ],
    [{ channels: undefined, unit: 'uV' }, 'm.json: unit: expected channels beside it, found none'],
    [{ channel: 'T3' }, 'm.json: channel: expected either channel or channels, found both'],
    [
      { sampling_rate_hz: undefined },
      /sampling_rate_hz: expected a rate in Hz beside channels, found none$/,
    ],
    [
      { window_length: 1_000_000 },
      /window_length: expected up to 1000000 samples in all channels, found 3000000$/,
    ],
    [
      { input_shape: [3, 128] },
      /input_shape: expected numbers with the product 768, channels × window_length, found 384$/,
    ],
    [{ step: 0 }, /step: expected a number of samples above 0, found 0$/],
    [
      { missing_channels: 'interpolate' },
      /positions: expected the position of “C3”, which missing_channels "interpolate" needs$/,
    ],
    [{ positions: { C3: [0, 0, 0] } }, /positions\.C3: expected a point other than 0$/],
    [{ positions: { C3: [0, 0] } }, /positions\.C3: expected three numbers/],
    [step('fft'), /preprocess\[0\]\.type: expected a step with a type of pick, .*, found "fft"$/],
    [
      { preprocess: [null] },
      /preprocess\[0\]: expected a step with a type of pick, .*, found null$/,
    ],
    [
      step('pick', { channels: ['X'] }),
      /preprocess\[0\]\.channels\[0\]: there is no channel “X” at this step, only C3, Cz, C4$/,
    ],
    [
      step('pick', { channels: ['C3'] }),
      /preprocess: gives the channels C3, expected those of channels, C3, Cz, C4: add a step of type pick$/,
    ],
    [
      step('reference', { channels: ['A1'] }),
      /preprocess\[0\]\.channels\[0\]: there is no channel “A1”/,
    ],
    [step('filter'), /preprocess\[0\]: expected high_pass_hz, low_pass_hz or both$/],
    [
      step('filter', { high_pass_hz: 40, low_pass_hz: 4 }),
      /preprocess\[0\]\.low_pass_hz: expected a frequency above high_pass_hz$/,
    ],
    [
      step('filter', { low_pass_hz: 64 }),
      /preprocess\[0\]\.low_pass_hz: expected a frequency below half the sampling rate of 128 Hz, found 64$/,
    ],
    [
      step('filter', { low_pass_hz: 30, order: 11 }),
      /preprocess\[0\]\.order: expected a whole number from 1 to 10, found 11$/,
    ],
    [
      step('filter', { high_pass_hz: 1e-9, order: 10 }),
      /preprocess\[0\]\.order: is unstable at a sampling rate of 128 Hz/,
    ],
    [
      step('notch', { frequency_hz: [50, 70] }),
      /preprocess\[0\]\.frequency_hz: expected a frequency below half/,
    ],
    [
      step('notch', { frequency_hz: 50, quality: 0 }),
      /preprocess\[0\]\.quality: expected a number above 0, found 0$/,
    ],
    [
      step('resample', { sampling_rate_hz: 64 }),
      /preprocess: gives a sampling rate of 64 Hz, expected sampling_rate_hz, 128$/,
    ],
    [step('clip', { min: 3, max: 2 }), /preprocess\[0\]\.max: expected a number above min$/],
    [step('scale'), /preprocess\[0\]\.factor: expected a number/],
    [step('scale', { factor: 1, extra: 1 }), /preprocess\[0\]/],
    [
      { preprocess: Array(33).fill({ type: 'scale', factor: 1 }) },
      /preprocess: expected up to 32 steps$/,
    ],
    [
      { preprocess: [{ type: 'standardize' }, { type: 'reference' }] },
      /preprocess\[1\]\.type: expected standardize, scale or clip after the first standardize/,
    ],
    [
      { window_length: 20, ...step('filter', { low_pass_hz: 30, order: 10 }) },
      /preprocess: a zero-phase filter needs more than 33 samples, found 20/,
    ],
    [
      { epochs: { baseline_s: [-0.2, 0] } },
      /epochs\.baseline_s: expected times from 0 to 1\.9921875 s, those of a window, found \[-0\.2,0\]$/,
    ],
    [
      { epochs: { events: { a: 1 } } },
      /epochs\.events\.a: expected the name of a class, or null, found 1$/,
    ],
  ])('refuses %j', (keys, message) => {
    const found = problemOf(keys);
    if (typeof message === 'string') expect(found).toBe(message);
    else expect(found).toMatch(message);
  });

  it('takes steps between other channels and rates', () => {
    expect(
      problemOf({
        input_channels: ['A1', ...CHANNELS],
        preprocess: [
          { type: 'reference', channels: ['A1'] },
          { type: 'pick', channels: CHANNELS },
          { type: 'resample', sampling_rate_hz: 256 },
          { type: 'filter', low_pass_hz: 100 },
          { type: 'resample', sampling_rate_hz: 128 },
          { type: 'standardize', per: 'window' },
          { type: 'clip', max: 3 },
        ],
      }),
    ).toBeNull();
  });
});

describe('planChannels', () => {
  const settings = readModelSettings(
    path.resolve(__dirname, '../fixtures/multichannel/eeg_model.pt'),
  );

  it('needs as many samples as make a window at the rate of the model', () => {
    const names = settings.channels?.inputs ?? [];
    const lengths = [128, 128.5, 256, 100, 95, 500].map(
      (rate) => planChannels(settings, names, rate).windowLength,
    );
    expect(lengths).toEqual([64, 64, 128, 50, 48, 250]);
    for (const rate of [256, 100, 95, 500]) {
      const plan = planChannels(settings, names, rate);
      const block = names.map(() => new Float64Array(plan.windowLength).fill(1));
      const [output] = plan.createPipeline().process(block);
      expect(output?.length).toBeGreaterThanOrEqual(64);
    }
  });
});
