import path from 'node:path';
import type { LoraAdapter } from '../../native/engine';
import { ModelFileError } from '../files';
import { readSafetensorsHeader, type SafetensorsHeader } from '../safetensors';
import type { AdapterFolder, AdapterSettings } from './adapter';

/** Maximum number of adapted layers. Large models have a few hundred. */
const MAX_LAYERS = 20_000;

const FACTOR = /^base_model\.model\.(.+)\.lora_(?:A\.weight|B\.weight|embedding_A|embedding_B)$/;

/** Last layers of classifiers in all architectures. */
const OUTPUTS = ['classifier', 'classifier.out_proj', 'score'].map(
  (layer) => `base_model.model.${layer}.weight`,
);

/**
 * Describes the LoRA updates of an adapter: the layers that its tensors name, with their rank and
 * scale.
 *
 * Source: peft, tuners/lora/layer.py (`update_layer`).
 *
 * @throws ModelFileError
 */
export function readLora({ weightFile, settings }: AdapterFolder): LoraAdapter {
  const names = Object.keys(readHeader(weightFile).tensors);
  const modules = [...new Set(names.flatMap((name) => FACTOR.exec(name)?.[1] ?? []))];
  if (modules.length > MAX_LAYERS) {
    const found = `has LoRA factors of ${modules.length} layers`;
    throw new ModelFileError(
      `${path.basename(weightFile)}: ${found}, expected at most ${MAX_LAYERS}`,
    );
  }
  const layers = Object.fromEntries(modules.map((module) => [module, layerOf(module, settings)]));
  return { weightFile, layers };
}

/** Number of outputs of the classifier that the adapter contains; null: it contains none. */
export function countOutputs({ weightFile }: AdapterFolder): number | null {
  const { tensors } = readHeader(weightFile);
  const name = OUTPUTS.find((output) => Object.hasOwn(tensors, output));
  return name === undefined ? null : (tensors[name]?.shape[0] ?? null);
}

function readHeader(weightFile: string): SafetensorsHeader {
  const header = readSafetensorsHeader(weightFile);
  if (header) return header;
  throw new ModelFileError(`${path.basename(weightFile)}: is not a valid safetensors file`);
}

function layerOf(
  module: string,
  { r, lora_alpha, rank_pattern, alpha_pattern, use_rslora }: AdapterSettings,
): LoraAdapter['layers'][string] {
  const rank = valueFor(module, rank_pattern) ?? r;
  const alpha = valueFor(module, alpha_pattern) ?? lora_alpha;
  return { rank, scale: alpha / (use_rslora ? Math.sqrt(rank) : rank) };
}

/**
 * Returns the value of the first key that matches a module.
 *
 * Source: peft, utils/other.py (`get_pattern_key`).
 */
function valueFor(
  module: string,
  patterns: Readonly<Record<string, number>> | null | undefined,
): number | undefined {
  const matches = (key: string): boolean =>
    key.startsWith('^') ? module === key.slice(1) : module === key || module.endsWith(`.${key}`);
  return Object.entries(patterns ?? {}).find(([key]) => matches(key))?.[1];
}
