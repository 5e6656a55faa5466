import { GLICLASS_KEYS } from '../gliclass/keys';
import { GLINER_KEYS } from '../gliner/keys';
import { LAYA_KEYS } from '../laya/keys';
import { ADAPTER_CONFIG } from './peft';
import {
  CHAT_CONFIG,
  CONFIG_SENTENCE_TRANSFORMERS,
  MODULE_CONFIGS,
  MODULES_JSON,
  SENTENCE_BERT_CONFIG,
} from './sentence-transformers';
import type { KeyTable } from './table';
import { ARTIFACT_METADATA, TOKENIZER_CONFIG } from './tokenizers';
import { CONFIGS } from './transformers';

/**
 * Key tables of transformers, sentence-transformers and peft by file. Tables of config.json are listed by model_type or
 * by module class.
 */
export const MODEL_KEYS: Readonly<Record<string, KeyTable>> = {
  ...prefixed(CONFIGS),
  'tokenizer_config.json': TOKENIZER_CONFIG,
  'sentence_bert_config.json': SENTENCE_BERT_CONFIG,
  'sentence_bert_config.json: text-generation': CHAT_CONFIG,
  'config_sentence_transformers.json': CONFIG_SENTENCE_TRANSFORMERS,
  'modules.json': MODULES_JSON,
  ...prefixed(MODULE_CONFIGS),
  'artifact.metadata': ARTIFACT_METADATA,
  'adapter_config.json': ADAPTER_CONFIG,
};

/** Key tables of the packages of single models by file. */
export const PACKAGE_KEYS: Readonly<Record<string, KeyTable>> = {
  'gliner_config.json': GLINER_KEYS,
  'config.json of GLiClass': GLICLASS_KEYS,
  'rl_agent_config.json': LAYA_KEYS,
};

function prefixed(tables: Readonly<Record<string, KeyTable>>): Readonly<Record<string, KeyTable>> {
  return Object.fromEntries(
    Object.entries(tables).map(([name, table]) => [`config.json: ${name}`, table]),
  );
}
