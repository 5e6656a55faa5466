import { z } from 'zod';
import { checkModelJson, readModelJson } from '../models/json';
import type { Dtype } from '../native/engine';
import { MODEL_NAME } from '../settings/parsers';
import { DTYPES } from '../settings/settings';
import { TASKS } from '../tasks/registry';

export const MODEL_JSON = 'model.json';

const MAX_QUEUE = 2 ** 20;

/** A folder of a version: its number. */
export const VERSION_FOLDER = /^[1-9][0-9]{0,8}$/;

const name = z.string().regex(MODEL_NAME.pattern, `expected ${MODEL_NAME.expected}`);

/** What `model.json` may say of a folder of models; all of it may be left out. */
const modelJson = z.strictObject({
  /** What it is asked for; by default its files tell. */
  task: z.enum(TASKS.map(({ name }) => name)).optional(),
  /** Numbers of a text model; by default DTYPE. */
  dtype: z.enum(DTYPES).optional(),
  max_queue_requests: z.int().min(1).max(MAX_QUEUE).optional(),
  max_queue_wait_ms: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .optional(),
  /** Of the workers' time beside other models that want it, too: 3 gets three times as much as 1. */
  weight: z.number().min(0.001).max(1000).default(1),
  /** Of a text classifier: what becomes of texts that are longer than it takes, where a request does not say. */
  long_texts: z.enum(['truncate', 'windows']).default('truncate'),
  /** Tokens that windows share, and how their scores become one. */
  stride: z.int().min(0).default(0),
  combine: z.enum(['mean', 'max']).default('mean'),
  /** Which versions are loaded: the highest, all, or these. */
  versions: z
    .union([z.enum(['latest', 'all']), z.array(z.int().positive()).min(1)], {
      error: 'expected "latest", "all" or numbers of versions',
    })
    .default('latest'),
  /** Other names that it answers to. */
  aliases: z.array(name).max(100).default([]),
  /** Whether it answers where a request names no model of its task; else the first by name does. */
  default: z.boolean().default(false),
  /** Whether the process is ready only when it is. */
  required: z.boolean().default(false),
});

export type ModelJson = z.output<typeof modelJson> & { readonly dtype: Dtype };

/** What a folder's `model.json` says, or the defaults. @throws ModelFileError */
export function readModelSettings(folder: string, dtype: Dtype): ModelJson {
  const settings = checkModelJson(MODEL_JSON, modelJson, readModelJson(folder, MODEL_JSON) ?? {});
  return { ...settings, dtype: settings.dtype ?? dtype };
}
