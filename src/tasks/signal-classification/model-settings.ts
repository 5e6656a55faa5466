import path from 'node:path';
import { z } from 'zod';
import { printable } from '../../lib/printable';
import { ModelFileError } from '../../models/files';
import { expected, parseModelJson, quoted, readModelJson } from '../../models/json';
import type { ConstantInput } from '../../native/engine';
import {
  CHANNEL_KEYS,
  type ChannelSettings,
  findChannelProblem,
  toChannelSettings,
} from './channel-settings';
import { constantInputsSchema, toConstantInputs } from './constant-inputs';
import { qualitySchema, toQualitySettings } from './quality-settings';
import type { QualitySettings } from './quality-thresholds';

/** Default window length in samples: 2.69 s at 95 Hz. */
export const WINDOW_LENGTH = 256;

/** Default class names, in output order. */
export const CLASSES = [
  'Control',
  "Alzheimer's Disease (AD)",
  'Frontotemporal Dementia (FTD)',
] as const;

/**
 * Maximum window length in samples. An hour at 256 Hz has 921,600 samples. BODY_LIMIT also limits
 * requests.
 */
const LONGEST_WINDOW = 1_000_000;

/** Kind of model output. Logits still need a softmax. */
export type OutputKind = 'logits' | 'probabilities';

/** Settings of a signal model. */
export interface ModelSettings {
  /** Name of the settings file; null: no file, the defaults apply. */
  readonly file: string | null;
  /** Class names in output order. */
  readonly classes: readonly string[];
  /** Kind of model output; null: not specified, outputs count as logits. */
  readonly output: OutputKind | null;
  /** Window length in samples; of multi-channel models: per channel. */
  readonly windowLength: number;
  /**
   * Shape of a window as model input; null: the shape in the model file, else [1, windowLength].
   */
  readonly inputShape: readonly number[] | null;
  /**
   * Sampling rate of the training data in Hz. Streams are resampled to this rate, requests are not.
   */
  readonly samplingRateHz: number | null;
  readonly channel: string | null;
  /** Null: the model takes one channel, which is z-normalized. */
  readonly channels: ChannelSettings | null;
  /** Inputs of the program other than the windows. */
  readonly constantInputs: readonly ConstantInput[];
  /** Thresholds of the signal quality flags. */
  readonly quality: QualitySettings;
  readonly name: string | null;
  readonly version: string | null;
}

const text = z.string(expected('a string')).regex(/\S/, 'expected a name, found none');

const size = z.int(expected('a whole number')).positive(expected('a number above 0'));

function product(shape: readonly number[]): number {
  return shape.reduce((all, each) => all * each, 1);
}

const keys = {
  name: text.optional().describe('Name of the model in responses and metrics'),
  version: text.optional().describe('Version of the model in responses and metrics'),
  classes: z
    .array(text, expected('an array of names'))
    .min(2, 'expected the names of at least 2 classes')
    .superRefine((names, context) => {
      const seen = new Set<string>();
      const index = names.findIndex((name) => seen.size === seen.add(name).size);
      if (index < 0) return;
      const message = `expected a name of its own, found ${quoted(names[index])} again`;
      context.addIssue({ code: 'custom', message, path: [index] });
    })
    .optional()
    .describe(
      'Class names in the order of the outputs. Default: the classes of the EEG demo model',
    ),
  output: z
    .enum(['logits', 'probabilities'], expected('"logits" or "probabilities"'))
    .optional()
    .describe('Outputs of the model: logits get a softmax. Default: logits'),
  window_length: z
    .int(expected('a whole number of samples'))
    .min(1, expected(`from 1 to ${LONGEST_WINDOW} samples`))
    .max(LONGEST_WINDOW, expected(`from 1 to ${LONGEST_WINDOW} samples`))
    .optional()
    .describe(
      `Window length in samples. Default: the length in the model file, else ${WINDOW_LENGTH}`,
    ),
  input_shape: z
    .array(size, expected('an array of whole numbers'))
    .min(1, 'expected at least one number')
    .refine((shape) => product(shape) <= LONGEST_WINDOW, {
      error: ({ input }) =>
        `expected up to ${LONGEST_WINDOW} samples, found ${product(input as number[])}`,
    })
    .optional()
    .describe(
      'Shape of a window as model input. Default: the shape in the model file, else [1, window_length]',
    ),
  sampling_rate_hz: z
    .number(expected('a number of Hz'))
    .positive(expected('a number of Hz above 0'))
    .optional()
    .describe(
      'Sampling rate of the training data in Hz. Streams are resampled to it, requests are not',
    ),
  channel: text.optional().describe('Channel of recordings and streams'),
  ...CHANNEL_KEYS,
  constant_inputs: constantInputsSchema
    .optional()
    .describe(
      'Values of further inputs of a torch.export program, such as electrode positions, by name. Default: none',
    ),
  quality: qualitySchema.optional().describe('Thresholds of the signal quality flags'),
};

export const signalJson = z
  .strictObject(keys, {
    error: ({ code }) =>
      code === 'unrecognized_keys'
        ? `unknown key, expected one of ${Object.keys(keys).join(', ')}`
        : 'expected an object',
  })
  .superRefine((given, context) => {
    const problem = findShapeProblem(given) ?? findChannelKeyProblem(given);
    if (problem === null) return;
    context.addIssue({ code: 'custom', path: [...problem.path], message: problem.message });
  });

type Given = z.output<z.ZodObject<typeof keys>>;

function findShapeProblem({ input_shape, window_length, channels }: Given) {
  if (!input_shape) return null;
  const found = product(input_shape);
  const path = ['input_shape'];
  if (channels) {
    const samples = channels.length * (window_length ?? WINDOW_LENGTH);
    const message = `expected numbers with the product ${samples}, channels × window_length, found ${found}`;
    return found === samples ? null : { path, message };
  }
  if (!window_length || found === window_length) return null;
  const message = `expected numbers with the product window_length, ${window_length}, found ${found}`;
  return { path, message };
}

/** Keys that only multi-channel models have. */
const CHANNELS_ONLY = Object.keys(CHANNEL_KEYS).filter((key) => key !== 'channels');

function findChannelKeyProblem(given: Given) {
  const { channels, channel, window_length: length = WINDOW_LENGTH } = given;
  if (channels === undefined) {
    const key = CHANNELS_ONLY.find((one) => Object.hasOwn(given, one));
    return key ? { path: [key], message: 'expected channels beside it, found none' } : null;
  }
  if (channel !== undefined) {
    return { path: ['channel'], message: 'expected either channel or channels, found both' };
  }
  const samples = Math.max(channels.length, given.input_channels?.length ?? 0) * length;
  if (samples > LONGEST_WINDOW) {
    const message = `expected up to ${LONGEST_WINDOW} samples in all channels, found ${samples}`;
    return { path: ['window_length'], message };
  }
  return findChannelProblem({ ...given, channels }, length);
}

/** Returns the path of a model's settings file: `eeg_model.json` for `eeg_model.pt`. */
export function settingsPath(modelPath: string): string {
  const { dir, name } = path.parse(modelPath);
  return path.join(dir, `${name}.json`);
}

/**
 * Reads the settings file of a model. The default for missing settings is a window of 256 samples
 * and the logits of three classes.
 *
 * @throws ModelFileError
 */
export function readModelSettings(modelPath: string): ModelSettings {
  const file = settingsPath(modelPath);
  const name = path.basename(file);
  const content = readModelJson(path.dirname(file), name);
  const given = content === undefined ? {} : checkModelSettings(content, name);
  return {
    file: content === undefined ? null : name,
    classes: given.classes ?? CLASSES,
    output: given.output ?? null,
    windowLength: given.window_length ?? defaultLength(given),
    inputShape: given.input_shape ?? null,
    samplingRateHz: given.sampling_rate_hz ?? null,
    channel: given.channel ?? null,
    channels: channelsOf(given),
    constantInputs: toConstantInputs(given.constant_inputs),
    quality: toQualitySettings(given.quality),
    name: given.name ?? null,
    version: given.version ?? null,
  };
}

/** Null: the model takes one channel. */
function channelsOf(given: Given): ChannelSettings | null {
  const { channels, sampling_rate_hz: rate, window_length: length = WINDOW_LENGTH } = given;
  if (!channels || rate === undefined) return null;
  return toChannelSettings({ ...given, channels }, rate, length);
}

function defaultLength({ input_shape, channels }: Partial<Given>): number {
  return input_shape && !channels ? product(input_shape) : WINDOW_LENGTH;
}

/**
 * Parses and validates model settings.
 *
 * @throws ModelFileError that names `file` and the key
 */
export function parseModelSettings(content: string, file: string): z.output<typeof signalJson> {
  return checkModelSettings(parseModelJson(content, file), file);
}

function checkModelSettings(value: unknown, file: string): z.output<typeof signalJson> {
  const result = signalJson.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const key = [...(issue?.path ?? []), ...unknown].reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? String(part) : `${name}.${String(part)}`;
  }, '');
  throw new ModelFileError(printable([file, key, issue?.message].filter(Boolean).join(': ')));
}
