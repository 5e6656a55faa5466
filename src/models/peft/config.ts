import { z } from 'zod';
import { ModelFileError } from '../files';
import { countLabels, labelConfig } from '../hugging-face/labels';
import { checkModelJson, quoted, readModelJson, requireModelJson } from '../json';
import type { AdapterFolder, AdapterSettings } from './adapter';
import { ADAPTER_SETTINGS } from './base-folder';
import { countOutputs } from './lora';

const CONFIG = 'config.json';

/** Ends of class names in transformers by task_type of peft. */
const CLASSES: Readonly<Record<string, string>> = {
  CAUSAL_LM: 'ForCausalLM',
  FEATURE_EXTRACTION: 'Model',
  SEQ_CLS: 'ForSequenceClassification',
  TOKEN_CLS: 'ForTokenClassification',
};

/** Task types with label names. */
const CLASSIFIERS = ['SEQ_CLS', 'TOKEN_CLS'];

/** End of a class name in transformers: `BertForMaskedLM`, `BertModel`. */
const CLASS_END = /(?:Model|For[A-Z]\w*)$/;

/** Keys that config.json in the adapter's folder overrides. */
const OVERRIDES = [
  ...['architectures', 'id2label', 'label2id', 'num_labels', 'problem_type', 'function_to_apply'],
  ...['name', 'version', 'sentence_transformers', 'sbert_ce_default_activation_function'],
];

const configSchema = z.looseObject({
  ...labelConfig,
  model_type: z.string().nullish(),
  architectures: z.array(z.string()).nullish(),
});

type Config = z.output<typeof configSchema>;

/**
 * Returns the configuration of an adapted model: config.json of the base, with the class by
 * task_type, the number of labels of the adapter's classifier, and the labels of config.json in the
 * adapter's folder. The labels of the base stay if their number is the same, as in transformers
 * (`from_pretrained(base, num_labels=n)`).
 *
 * @throws ModelFileError
 */
export function readAdaptedConfig(adapter: AdapterFolder): Config {
  const base = requireModelJson(adapter.base, CONFIG, configSchema);
  if (adapter.base === adapter.folder) return { ...base, ...classOf(base, adapter.settings) };
  const own = checkModelJson(CONFIG, configSchema, readModelJson(adapter.folder, CONFIG) ?? {});
  if (own.model_type != null && own.model_type !== base.model_type) {
    throw new ModelFileError(
      `${CONFIG}: model_type: expected ${quoted(base.model_type)} as in the base model, found ${quoted(own.model_type)}`,
    );
  }
  const overrides = Object.entries(own).filter(
    ([key, value]) => OVERRIDES.includes(key) && value != null,
  );
  return {
    ...base,
    ...classOf(base, adapter.settings),
    ...labelsOf(base, adapter),
    ...Object.fromEntries(overrides),
  };
}

/** @throws ModelFileError: the task is not supported */
function classOf(
  { architectures }: Config,
  { task_type: task, auto_mapping: mapping }: AdapterSettings,
): Pick<Config, 'architectures'> {
  if (task == null) {
    return mapping?.base_model_class ? { architectures: [mapping.base_model_class] } : {};
  }
  const end = Object.hasOwn(CLASSES, task) ? CLASSES[task] : undefined;
  if (end === undefined) {
    const known = Object.keys(CLASSES).join(', ');
    throw new ModelFileError(
      `${ADAPTER_SETTINGS}: task_type: expected ${known}, found ${quoted(task)}`,
    );
  }
  return {
    architectures: (architectures ?? ['']).map((name) => name.replace(CLASS_END, '') + end),
  };
}

function labelsOf(
  base: Config,
  adapter: AdapterFolder,
): Pick<Config, 'num_labels' | 'id2label' | 'label2id'> {
  if (!CLASSIFIERS.includes(adapter.settings.task_type ?? '')) return {};
  const count = countOutputs(adapter);
  if (count === null || count === countLabels(base)) return {};
  return { num_labels: count, id2label: null, label2id: null };
}
