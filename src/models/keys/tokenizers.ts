/**
 * Keys of tokenizer files in transformers 5.23: tokenization_utils_base.py,
 * tokenization_utils_tokenizers.py and the tokenizer classes. The native side reads the honored
 * keys (native/tokenizers).
 */
import { each, honored, type KeyTable, noEffect, only } from './table';

const CHAT = noEffect('of effect for messages only');
const PADDING = noEffect('texts are not padded, except queries of late interaction');
const OF_CALLS = noEffect('the reference asks for another value with each text');
const DECODING = noEffect('of effect when tokens become text');
const NAMES = noEffect('says what it is');

export const TOKENIZER_CONFIG: KeyTable = {
  keys: {
    ...each(
      [
        ...['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token'],
        ...['mask_token', 'added_tokens_decoder', 'extra_special_tokens'],
        ...['additional_special_tokens', 'model_specific_special_tokens'],
      ],
      honored,
    ),
    ...each(['tokenizer_class', 'model_input_names', 'split_special_tokens'], honored),
    ...each(['model_max_length', 'max_len', 'truncation_side', 'padding_side'], honored),
    ...each(['do_lower_case', 'strip_accents', 'tokenize_chinese_chars', 'keep_accents'], honored),
    ...each(['add_prefix_space', 'trim_offsets', 'split_by_punct', 'unk_id'], honored),
    ...each(['add_bos_token', 'add_eos_token'], honored),
    ...each(
      ['vocab', 'merges'],
      only([], 'Remove it: vocabularies are read from files of their own'),
    ),
    init_inputs: only([[]], 'Remove it'),
    fix_mistral_regex: only([false], 'Save the tokenizer with transformers again'),
    ...each(['max_length', 'stride', 'truncation_strategy'], OF_CALLS),
    ...each(['pad_to_multiple_of', 'pad_token_type_id'], PADDING),
    ...each(['chat_template', 'chat_control_tokens', 'response_template', 'response_schema'], CHAT),
    ...each(
      [
        ...['clean_up_tokenization_spaces', 'errors'],
        'clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output',
      ],
      DECODING,
    ),
    ...each(['backend', 'processor_class', 'verbose', 'name_or_path'], NAMES),
    auto_map: noEffect('code of models is not run'),
  },
  unknownKeys: 'ignored',
};

/** Keys of artifact.metadata in checkpoints of Stanford's ColBERT. */
export const ARTIFACT_METADATA: KeyTable = {
  keys: {
    ...each(['query_token_id', 'doc_token_id', 'query_maxlen', 'doc_maxlen'], honored),
    ...each(['attend_to_mask_tokens', 'mask_punctuation', 'dim'], honored),
  },
  unknownKeys: 'ignored',
};
