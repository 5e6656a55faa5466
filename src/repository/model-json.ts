import { z } from 'zod';
import { checkModelJson, readModelJson } from '../models/json';
import type { Dtype } from '../native/engine';
import { MODEL_NAME } from '../settings/parsers';
import { DTYPES } from '../settings/settings';
import { TASKS } from '../tasks/registry';

export const MODEL_JSON = 'model.json';

const MAX_QUEUE = 2 ** 20;

/** Name of a version folder: a positive integer. */
export const VERSION_FOLDER = /^[1-9][0-9]{0,8}$/;

const name = z.string().regex(MODEL_NAME.pattern, `expected ${MODEL_NAME.expected}`);

/** Schema of `model.json` in a model folder. All keys are optional. */
const modelJson = z.strictObject({
  /** Task; default: by the model files. */
  task: z.enum(TASKS.map(({ name }) => name)).optional(),
  /** Number format of a text model; default: DTYPE. */
  dtype: z.enum(DTYPES).optional(),
  max_queue_requests: z.int().min(1).max(MAX_QUEUE).optional(),
  max_queue_wait_ms: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .optional(),
  /** Weight (fair share): under load, a model with 3 gets three times the worker time of a model with 1. */
  weight: z.number().min(0.001).max(1000).default(1),
  /** Default of `long_texts` in requests to a text classifier. */
  long_texts: z.enum(['truncate', 'windows']).default('truncate'),
  /** Overlap of windows in tokens, and how the scores of windows are combined. */
  stride: z.int().min(0).default(0),
  combine: z.enum(['mean', 'max']).default('mean'),
  /** Versions to load: the highest, all, or a list. */
  versions: z
    .union([z.enum(['latest', 'all']), z.array(z.int().positive()).min(1)], {
      error: 'expected "latest", "all" or numbers of versions',
    })
    .default('latest'),
  /** Further names of the model in requests. */
  aliases: z.array(name).max(100).default([]),
  /** Whether it is the default model of its task; without such a model: the first by name. */
  default: z.boolean().default(false),
  /** Whether readiness requires the model. */
  required: z.boolean().default(false),
});

export type ModelJson = z.output<typeof modelJson> & { readonly dtype: Dtype };

/** Reads `model.json`, with defaults for missing keys. @throws ModelFileError */
export function readModelSettings(folder: string, dtype: Dtype): ModelJson {
  const settings = checkModelJson(MODEL_JSON, modelJson, readModelJson(folder, MODEL_JSON) ?? {});
  return { ...settings, dtype: settings.dtype ?? dtype };
}
