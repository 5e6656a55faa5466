import { z } from 'zod';
import { checkModelJson, readModelJson } from '../models/json';
import { isBaseName } from '../models/peft/base-folder';
import type { Dtype } from '../native/engine';
import { MODEL_NAME } from '../settings/parsers';
import { DTYPES } from '../settings/settings';
import { CAPABILITIES } from '../tasks/capabilities';
import { DEFAULT_TEMPLATES, findTemplateProblem } from '../tasks/decision/hypotheses';
import { MAX_LABEL_LENGTH } from '../tasks/entity-recognition/labels';
import { TASKS } from '../tasks/registry';

export const MODEL_JSON = 'model.json';

const MAX_QUEUE = 2 ** 20;
/** The native side keeps the vectors of this number of labels. */
const MAX_LABELS_AHEAD = 8192;

/** Name of a version folder: a positive integer. */
export const VERSION_FOLDER = /^[1-9][0-9]{0,8}$/;

const name = z.string().regex(MODEL_NAME.pattern, `expected ${MODEL_NAME.expected}`);

/** Maximum length of a template in UTF-16 units. */
const MAX_TEMPLATE = 1024;

const template = (placeholders: readonly string[]) =>
  z
    .string()
    .max(MAX_TEMPLATE)
    .superRefine((value, context) => {
      const problem = findTemplateProblem(value, placeholders);
      if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    });

/** Schema of `model.json` in a model folder. All keys are optional. */
export const modelJson = z.strictObject({
  task: z
    .enum(TASKS.map(({ name }) => name))
    .optional()
    .describe('Task of the model. Default: detected from the model files'),
  abilities: z
    .array(z.enum(CAPABILITIES))
    .min(1)
    .optional()
    .describe('Abilities that requests may use. Default: all that the model has'),
  base: z
    .string()
    .refine(isBaseName, 'expected the name of a folder next to this folder')
    .optional()
    .describe(
      'Folder of the base model of a LoRA adapter. Default: last part of base_model_name_or_path',
    ),
  adapter: z
    .string()
    .optional()
    .describe(
      'Task of requests without a task, for a model with LoRA adapters of several tasks: a name in lora_adaptations of config.json. Default: no adapter',
    ),
  dtype: z
    .enum(DTYPES)
    .optional()
    .describe('Number format of a text model. Default: the setting DTYPE'),
  max_queue_requests: z
    .int()
    .min(1)
    .max(MAX_QUEUE)
    .optional()
    .describe('Queue capacity of the model in requests. Default: MAX_QUEUE_REQUESTS'),
  max_queue_wait_ms: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .optional()
    .describe('Maximum expected queue wait in ms. Default: MAX_QUEUE_WAIT_MS'),
  weight: z
    .number()
    .min(0.001)
    .max(1000)
    .default(1)
    .describe(
      'Weight (fair share): under load, a model with 3 gets three times the worker time of a model with 1',
    ),
  long_texts: z
    .enum(['truncate', 'windows'])
    .default('truncate')
    .describe('Texts over the maximum length of a text classifier: truncate them, or read windows'),
  stride: z.int().min(0).default(0).describe('Overlap of consecutive windows in tokens'),
  combine: z
    .enum(['mean', 'max'])
    .default('mean')
    .describe('How the scores of windows are combined'),
  decision: z
    .strictObject({
      template: template(['instructions', 'option'])
        .default(DEFAULT_TEMPLATES.template)
        .describe('Hypothesis of a question with instructions'),
      label_template: template(['option'])
        .default(DEFAULT_TEMPLATES.label_template)
        .describe('Hypothesis of a question without instructions, for a label without description'),
    })
    .optional()
    .describe('Hypotheses of an NLI model for decisions: `template`, `label_template`'),
  labels: z
    .array(
      z.string().regex(/\S/, { error: 'expected a label, which is a text' }).max(MAX_LABEL_LENGTH),
    )
    .min(1)
    .max(MAX_LABELS_AHEAD)
    .optional()
    .describe(
      'Labels or descriptions that a GLiNER bi-encoder encodes when it loads. Default: it encodes them in the first request',
    ),
  versions: z
    .union([z.enum(['latest', 'all']), z.array(z.int().positive()).min(1)], {
      error: 'expected "latest", "all" or numbers of versions',
    })
    .default('latest')
    .describe('Versions to load: the highest, all, or a list of numbers'),
  aliases: z.array(name).max(100).default([]).describe('Further names of the model in requests'),
  default: z
    .boolean()
    .default(false)
    .describe('Serve requests that name no model of its task. Without it: the first model by name'),
  required: z
    .boolean()
    .default(false)
    .describe('GET /ready waits for the model. Always true for a model that serve names'),
});

export type ModelJson = z.output<typeof modelJson> & { readonly dtype: Dtype };

/** Reads `model.json`, with defaults for missing keys. @throws ModelFileError */
export function readModelSettings(folder: string, dtype: Dtype): ModelJson {
  const settings = checkModelJson(MODEL_JSON, modelJson, readModelJson(folder, MODEL_JSON) ?? {});
  return { ...settings, dtype: settings.dtype ?? dtype };
}
