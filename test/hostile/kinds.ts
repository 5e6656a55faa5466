import type { HostileCase } from './case';
import { CONFIGS } from './config';
import { EEG_SETTINGS } from './eeg-settings';
import { EXPORTED_CONTAINERS } from './exported-containers';
import { EXPORTED_GRAPHS } from './exported-graphs';
import { EXPORTED_OPERATORS } from './exported-operators';
import { PICKLES } from './pickles';
import { ROTARY_CONFIGS } from './rotary-config';
import { SAFETENSORS } from './safetensors';
import { SENTENCE_PIECES } from './sentencepiece';
import { SHARDS } from './shards';
import { TOKENIZERS } from './tokenizers';

/** All that must not load, by the kind of file. */
export const KINDS: Readonly<Record<string, readonly HostileCase[]>> = {
  safetensors: SAFETENSORS,
  'shards and links': SHARDS,
  'config.json': CONFIGS,
  'config.json with rotary positions': ROTARY_CONFIGS,
  tokenizers: TOKENIZERS,
  'SentencePiece models': SENTENCE_PIECES,
  pickles: PICKLES,
  'eeg_model.json': EEG_SETTINGS,
  'archives of torch.export': EXPORTED_CONTAINERS,
  'graphs of torch.export': EXPORTED_GRAPHS,
  'operators of exported programs': EXPORTED_OPERATORS,
};
