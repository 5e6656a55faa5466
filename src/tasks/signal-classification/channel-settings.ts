import { z } from 'zod';
import { expected, quoted } from '../../models/json';
import { lengthOf, PreprocessingError } from '../../preprocessing/block';
import { createSteps, Pipeline, StepError } from '../../preprocessing/pipeline';
import {
  preprocessSchema,
  type StepSettings,
  type WindowStepSettings,
} from '../../preprocessing/schema';
import type { Position } from '../../preprocessing/spherical-splines';
import {
  baselineSamples,
  type EpochSettings,
  epochsSchema,
  toEpochSettings,
} from './epoch-settings';

/** Maximum number of channels of which some can be interpolated: the weights are computed within milliseconds. */
const MAX_INTERPOLATED = 256;
/** Maximum number of channels. */
export const MAX_CHANNELS = 512;

/** Channels of a multi-channel model, and what happens to signals before the model. */
export interface ChannelSettings {
  /** Channels of a signal before `continuous`, in order. */
  readonly inputs: readonly string[];
  /** Channels of a window as model input, in order. */
  readonly names: readonly string[];
  /** Unit of the samples before `continuous`; null: not specified. */
  readonly unit: string | null;
  /** Distance between the starts of windows, in samples at the model's rate; null: the window length. */
  readonly step: number | null;
  /** Whether missing channels are interpolated by spherical splines; otherwise they are an error. */
  readonly interpolates: boolean;
  /** Positions of electrodes; has all `inputs` if `interpolates`. */
  readonly positions: ReadonlyMap<string, Position>;
  /** Steps over the signal. */
  readonly continuous: readonly StepSettings[];
  /** Windows around annotations of recordings; null: windows `step` samples apart. */
  readonly epochs: EpochSettings | null;
  /** First and last sample of a window whose mean is subtracted before `window`; null: none is subtracted. */
  readonly baseline: readonly [number, number] | null;
  /** Steps over each window. */
  readonly window: readonly WindowStepSettings[];
}

const name = z.string(expected('the name of a channel')).regex(/\S/, 'expected a name, found none');

const names = z
  .array(name, expected('an array of channel names'))
  .min(1, 'expected at least one channel')
  .max(MAX_CHANNELS, `expected up to ${MAX_CHANNELS} channels`)
  .superRefine((all, context) => {
    const seen = new Set<string>();
    const index = all.findIndex((one) => seen.size === seen.add(one).size);
    if (index < 0) return;
    const message = `expected a name of its own, found ${quoted(all[index])} again`;
    context.addIssue({ code: 'custom', message, path: [index] });
  });

const coordinate = z.number(expected('a number'));

/** Keys of multi-channel models in model settings. */
export const CHANNEL_KEYS = {
  channels: names.optional().describe('Channels of a window, in the order of the model input'),
  input_channels: names
    .optional()
    .describe('Channels of signals before `preprocess`. Default: those of `channels`'),
  unit: name.optional().describe('Unit of the samples, such as uV. Recordings are converted to it'),
  step: z
    .int(expected('a whole number of samples'))
    .min(1, expected('a number of samples above 0'))
    .optional()
    .describe(
      'Distance between the starts of windows in recordings and streams, in samples at `sampling_rate_hz`. Default: window_length',
    ),
  missing_channels: z
    .enum(['error', 'interpolate'], expected('"error" or "interpolate"'))
    .optional()
    .describe(
      'interpolate: channels that a signal lacks are computed from the others by spherical splines, and responses name them. Default: error',
    ),
  positions: z
    .record(
      z.string(),
      z
        .tuple([coordinate, coordinate, coordinate], expected('three numbers'))
        .refine((position) => Math.hypot(...position) > 0, {
          error: 'expected a point other than 0',
        }),
      expected('an object of positions'),
    )
    .optional()
    .describe('Position of each electrode, [x, y, z] from the center of the head, in any unit'),
  epochs: epochsSchema.optional().describe('Windows around annotations of recordings'),
  preprocess: preprocessSchema
    .optional()
    .describe('Steps over signals and windows before the model, in order. Default: none'),
};

interface Given {
  readonly channels: readonly string[];
  readonly input_channels?: readonly string[] | undefined;
  readonly unit?: string | undefined;
  readonly step?: number | undefined;
  readonly missing_channels?: 'error' | 'interpolate' | undefined;
  readonly positions?: Readonly<Record<string, Position>> | undefined;
  readonly epochs?: z.output<typeof epochsSchema> | undefined;
  readonly preprocess?: readonly StepSettings[] | undefined;
}

/**
 * @param rate of the model in Hz
 * @throws RangeError: the baseline is not within a window
 */
export function toChannelSettings(
  given: Given,
  rate: number,
  windowLength: number,
): ChannelSettings {
  const epochs = given.epochs ? toEpochSettings(given.epochs) : null;
  const steps = given.preprocess ?? [];
  const found = steps.findIndex(({ type }) => type === 'standardize');
  const at = found < 0 ? steps.length : found;
  return {
    inputs: given.input_channels ?? given.channels,
    names: given.channels,
    unit: given.unit ?? null,
    step: given.step ?? null,
    interpolates: given.missing_channels === 'interpolate',
    positions: new Map(Object.entries(given.positions ?? {})),
    epochs,
    baseline: epochs && baselineSamples(epochs, rate, windowLength),
    continuous: steps.slice(0, at),
    window: steps.slice(at) as readonly WindowStepSettings[],
  };
}

/** A key with a problem. */
interface KeyProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Finds a contradiction between the keys of a multi-channel model; null: none. */
export function findChannelProblem(
  given: Given & { readonly sampling_rate_hz?: number | undefined },
  windowLength: number,
): KeyProblem | null {
  const { sampling_rate_hz: rate } = given;
  if (rate === undefined) {
    return {
      path: ['sampling_rate_hz'],
      message: 'expected a rate in Hz beside channels, found none',
    };
  }
  const settings = settingsOrProblem(given, rate, windowLength);
  if ('message' in settings) return settings;
  return (
    findPositionProblem(settings) ??
    findWindowStepProblem(settings) ??
    findPipelineProblem(settings, rate, windowLength)
  );
}

function settingsOrProblem(
  given: Given,
  rate: number,
  windowLength: number,
): ChannelSettings | KeyProblem {
  try {
    return toChannelSettings(given, rate, windowLength);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { path: ['epochs', 'baseline_s'], message: error.message };
  }
}

function findPositionProblem({
  interpolates,
  inputs,
  positions,
}: ChannelSettings): KeyProblem | null {
  if (interpolates && inputs.length > MAX_INTERPOLATED) {
    const message = `expected "error" for more than ${MAX_INTERPOLATED} channels, found "interpolate"`;
    return { path: ['missing_channels'], message };
  }
  const missing = interpolates ? inputs.find((input) => !positions.has(input)) : undefined;
  if (missing === undefined) return null;
  const message = `expected the position of “${missing}”, which missing_channels "interpolate" needs`;
  return { path: ['positions'], message };
}

function findWindowStepProblem({ continuous, window }: ChannelSettings): KeyProblem | null {
  const wrong = window.findIndex(({ type }) => !['standardize', 'scale', 'clip'].includes(type));
  if (wrong < 0) return null;
  const message =
    'expected standardize, scale or clip after the first standardize, which is a step of windows';
  return { path: ['preprocess', continuous.length + wrong, 'type'], message };
}

/** Processes a window of zeros with the model's rate. */
function findPipelineProblem(
  { continuous, inputs, names }: ChannelSettings,
  samplingRateHz: number,
  windowLength: number,
): KeyProblem | null {
  const path = ['preprocess'];
  const input = { channels: inputs, samplingRateHz };
  try {
    const pipeline = new Pipeline(input, createSteps(continuous, input));
    const { output } = pipeline;
    const all = output.channels.join(', ');
    if (all !== names.join(', ')) {
      const message = `gives the channels ${all}, expected those of channels, ${names.join(', ')}: add a step of type pick`;
      return { path, message };
    }
    if (output.samplingRateHz !== samplingRateHz) {
      const message = `gives a sampling rate of ${output.samplingRateHz} Hz, expected sampling_rate_hz, ${samplingRateHz}`;
      return { path, message };
    }
    const length = lengthOf(pipeline.process(inputs.map(() => new Float64Array(windowLength))));
    if (length === windowLength) return null;
    return { path, message: `turns a window of ${windowLength} samples into ${length}` };
  } catch (error) {
    if (error instanceof StepError) {
      return { path: [...path, error.step, error.key], message: error.message };
    }
    if (!(error instanceof PreprocessingError)) throw error;
    return { path, message: error.message };
  }
}
