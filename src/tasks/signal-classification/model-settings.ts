import path from 'node:path';
import { z } from 'zod';
import { printable } from '../../lib/printable';
import { ModelFileError } from '../../models/files';
import { parseModelJson, quoted, readModelJson } from '../../models/json';
import { type QualitySettings, qualitySchema, toQualitySettings } from './quality-settings';

/** Samples in a window, unless the model has settings: 2.69 s at 95 Hz. */
export const WINDOW_LENGTH = 256;

/** The model's three outputs, in order, unless it has settings. */
export const CLASSES = [
  'Control',
  "Alzheimer's Disease (AD)",
  'Frontotemporal Dementia (FTD)',
] as const;

/** An hour at 256 Hz is 921,600 samples. What requests can carry is up to BODY_LIMIT. */
const LONGEST_WINDOW = 1_000_000;

/** Whether a softmax is still to come. */
export type OutputKind = 'logits' | 'probabilities';

/** What a signal model takes and gives. */
export interface ModelSettings {
  /** Name of the file that was read; null: there is none, and all is as for the shipped model. */
  readonly file: string | null;
  /** Names of the model's outputs, in order. */
  readonly classes: readonly string[];
  /** null: the file does not say. Outputs then count as logits. */
  readonly output: OutputKind | null;
  /** Samples. */
  readonly windowLength: number;
  /** Of a window as the model takes it; null: the model's file says, else it is [1, windowLength]. */
  readonly inputShape: readonly number[] | null;
  /** Hz; what the model was trained on. Streams are resampled to it, requests are not. */
  readonly samplingRateHz: number | null;
  readonly channel: string | null;
  /** What a window looks like that a person would not trust. */
  readonly quality: QualitySettings;
  readonly name: string | null;
  readonly version: string | null;
}

function expected(what: string): (issue: { readonly input?: unknown }) => string {
  return ({ input }) => `expected ${what}, found ${quoted(input)}`;
}

const text = z.string({ error: expected('a string') }).regex(/\S/, 'expected a name, found none');

const size = z
  .int({ error: expected('a whole number') })
  .positive({ error: expected('a number above 0') });

function product(shape: readonly number[]): number {
  return shape.reduce((all, each) => all * each, 1);
}

const keys = {
  name: text.optional(),
  version: text.optional(),
  classes: z
    .array(text, { error: expected('an array of names') })
    .min(2, 'expected the names of at least 2 classes')
    .superRefine((names, context) => {
      const seen = new Set<string>();
      const index = names.findIndex((name) => seen.size === seen.add(name).size);
      if (index < 0) return;
      const message = `expected a name of its own, found ${quoted(names[index])} again`;
      context.addIssue({ code: 'custom', message, path: [index] });
    })
    .optional(),
  output: z
    .enum(['logits', 'probabilities'], { error: expected('"logits" or "probabilities"') })
    .optional(),
  window_length: z
    .int({ error: expected('a whole number of samples') })
    .min(1, { error: expected(`from 1 to ${LONGEST_WINDOW} samples`) })
    .max(LONGEST_WINDOW, { error: expected(`from 1 to ${LONGEST_WINDOW} samples`) })
    .optional(),
  input_shape: z
    .array(size, { error: expected('an array of whole numbers') })
    .min(1, 'expected at least one number')
    .refine((shape) => product(shape) <= LONGEST_WINDOW, {
      error: ({ input }) =>
        `expected up to ${LONGEST_WINDOW} samples, found ${product(input as number[])}`,
    })
    .optional(),
  sampling_rate_hz: z
    .number({ error: expected('a number of Hz') })
    .positive({ error: expected('a number of Hz above 0') })
    .optional(),
  channel: text.optional(),
  quality: qualitySchema.optional(),
};

const schema = z
  .strictObject(keys, {
    error: ({ code }) =>
      code === 'unrecognized_keys'
        ? `unknown key, expected one of ${Object.keys(keys).join(', ')}`
        : 'expected an object',
  })
  .refine(
    ({ input_shape, window_length }) =>
      !input_shape || !window_length || product(input_shape) === window_length,
    {
      path: ['input_shape'],
      error: ({ input }) => {
        const { input_shape, window_length } = input as { [key: string]: number[] };
        return `expected numbers with the product window_length, ${window_length}, found ${product(input_shape ?? [])}`;
      },
    },
  );

/** Where the settings of a model are: `eeg_model.pt` has `eeg_model.json` beside it. */
export function settingsPath(modelPath: string): string {
  const { dir, name } = path.parse(modelPath);
  return path.join(dir, `${name}.json`);
}

/**
 * Reads the settings beside a model. What they leave out, and all of it without a file, is as the
 * contract has it: 256 samples to logits of the three classes.
 *
 * @throws ModelFileError
 */
export function readModelSettings(modelPath: string): ModelSettings {
  const place = settingsPath(modelPath);
  const name = path.basename(place);
  const content = readModelJson(path.dirname(place), name);
  const given = content === undefined ? {} : checkModelSettings(content, name);
  return {
    file: content === undefined ? null : name,
    classes: given.classes ?? CLASSES,
    output: given.output ?? null,
    windowLength:
      given.window_length ?? (given.input_shape ? product(given.input_shape) : WINDOW_LENGTH),
    inputShape: given.input_shape ?? null,
    samplingRateHz: given.sampling_rate_hz ?? null,
    channel: given.channel ?? null,
    quality: toQualitySettings(given.quality),
    name: given.name ?? null,
    version: given.version ?? null,
  };
}

/** @throws ModelFileError naming `file` and the key */
export function parseModelSettings(content: string, file: string): z.output<typeof schema> {
  return checkModelSettings(parseModelJson(content, file), file);
}

function checkModelSettings(value: unknown, file: string): z.output<typeof schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const key = [...(issue?.path ?? []), ...unknown].reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? String(part) : `${name}.${String(part)}`;
  }, '');
  throw new ModelFileError(printable([file, key, issue?.message].filter(Boolean).join(': ')));
}
