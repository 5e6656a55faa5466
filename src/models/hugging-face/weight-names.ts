/**
 * Names of the weight files that `save_pretrained` writes, in search order. An index file lists the
 * shards.
 *
 * Source: transformers 5.23, modeling_utils.py, `_get_resolved_checkpoint_files`.
 */
export const SAVED_WEIGHTS: readonly string[] = [
  'model.safetensors',
  'model.safetensors.index.json',
  'pytorch_model.bin',
  'pytorch_model.bin.index.json',
];
