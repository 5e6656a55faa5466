import { z } from 'zod';
import { expected, quoted } from '../models/json';

const MAX_ORDER = 10;

const name = z.string(expected('the name of a channel')).regex(/\S/, 'expected a name, found none');
const names = z
  .array(name, expected('an array of channel names'))
  .min(1, 'expected at least one channel')
  .refine((all) => new Set(all).size === all.length, { error: 'names a channel twice' });
const frequency = z
  .number(expected('a frequency in Hz'))
  .positive(expected('a frequency in Hz above 0'));
const number = z.number(expected('a number'));
const phase = z
  .enum(['zero', 'causal'], expected('"zero" or "causal"'))
  .default('zero')
  .describe(
    'zero: forward and backward over the whole signal, for recordings and windows. causal: past samples only, also for streams',
  );
const initial = z
  .enum(['zero', 'steady'], expected('"zero" or "steady"'))
  .default('zero')
  .describe(
    'Start of a causal filter: zero, or steady as after a constant signal of the first value',
  );

const pick = z.strictObject({
  type: z.literal('pick'),
  channels: names.describe('Channels that remain, in this order'),
});

const reference = z.strictObject({
  type: z.literal('reference'),
  channels: names
    .nullable()
    .default(null)
    .describe('Channels whose mean is subtracted. Default: the average of all channels'),
});

const filter = z
  .strictObject({
    type: z.literal('filter'),
    high_pass_hz: frequency.nullable().default(null).describe('Lower limit of the pass band'),
    low_pass_hz: frequency.nullable().default(null).describe('Upper limit of the pass band'),
    order: z
      .int(expected(`a whole number from 1 to ${MAX_ORDER}`))
      .min(1, expected(`a whole number from 1 to ${MAX_ORDER}`))
      .max(MAX_ORDER, expected(`a whole number from 1 to ${MAX_ORDER}`))
      .default(4)
      .describe('Order of the Butterworth filter'),
    phase,
    initial,
  })
  .refine(({ high_pass_hz, low_pass_hz }) => high_pass_hz !== null || low_pass_hz !== null, {
    error: 'expected high_pass_hz, low_pass_hz or both',
  })
  .refine(
    ({ high_pass_hz, low_pass_hz }) =>
      high_pass_hz === null || low_pass_hz === null || high_pass_hz < low_pass_hz,
    { path: ['low_pass_hz'], error: 'expected a frequency above high_pass_hz' },
  );

const notch = z.strictObject({
  type: z.literal('notch'),
  frequency_hz: z
    .union(
      [frequency, z.array(frequency).min(1).max(20)],
      expected('a frequency in Hz, or several'),
    )
    .describe('Frequency that is removed, or several'),
  quality: z
    .number(expected('a number above 0'))
    .positive(expected('a number above 0'))
    .default(30)
    .describe('Frequency divided by the width at -3 dB'),
  phase,
  initial,
});

const resample = z.strictObject({
  type: z.literal('resample'),
  sampling_rate_hz: frequency.describe('Sampling rate after the step'),
});

const scale = z.strictObject({ type: z.literal('scale'), factor: number });

const clip = z
  .strictObject({
    type: z.literal('clip'),
    min: number.nullable().default(null),
    max: number.nullable().default(null),
  })
  .refine(({ min, max }) => min !== null || max !== null, { error: 'expected min, max or both' })
  .refine(({ min, max }) => min === null || max === null || min < max, {
    path: ['max'],
    error: 'expected a number above min',
  });

const exponentialMovingStandardize = z.strictObject({
  type: z.literal('exponential_moving_standardize'),
  factor_new: z
    .number(expected('a number above 0 and up to 1'))
    .gt(0, expected('a number above 0 and up to 1'))
    .max(1, expected('a number above 0 and up to 1'))
    .default(0.001)
    .describe('Weight of a new sample'),
  init_block_size: z
    .int(expected('a whole number of samples'))
    .min(1, expected('a number of samples above 0'))
    .max(1_000_000, expected('up to 1000000 samples'))
    .nullable()
    .default(null)
    .describe('First samples, which are standardized by their own mean and deviation'),
  eps: z
    .number(expected('a number above 0'))
    .positive(expected('a number above 0'))
    .default(1e-4)
    .describe('Minimum standard deviation'),
});

const standardize = z.strictObject({
  type: z.literal('standardize'),
  per: z
    .enum(['channel', 'window'], expected('"channel" or "window"'))
    .default('channel')
    .describe('Whether each channel of a window has a mean and deviation of its own'),
});

/** A step of the list `preprocess` in model settings. */
const stepSchema = z.discriminatedUnion(
  'type',
  [
    pick,
    reference,
    filter,
    notch,
    resample,
    scale,
    clip,
    exponentialMovingStandardize,
    standardize,
  ],
  {
    error: ({ input }) => {
      const type = (input as { readonly type?: unknown } | null | undefined)?.type;
      return `expected a step with a type of pick, reference, filter, notch, resample, scale, clip, exponential_moving_standardize or standardize, found ${quoted(type ?? input)}`;
    },
  },
);

/** Maximum number of steps. */
const MAX_STEPS = 32;

export const preprocessSchema = z
  .array(stepSchema, expected('an array of steps'))
  .max(MAX_STEPS, `expected up to ${MAX_STEPS} steps`);

export type StepSettings = z.output<typeof stepSchema>;
export type WindowStepSettings = Extract<StepSettings, { type: 'standardize' | 'clip' | 'scale' }>;
