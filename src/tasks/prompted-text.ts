import type { Prompted } from '../models/sentence-transformers/model';
import { EngineError, type Inference, type NativeInput } from '../native/engine';
import { allFinite } from '../numeric/activations';
import type { TextToEmbed } from './abilities';

/** What the engine is given for a text of a model of sentence-transformers. */
export function prepareText(
  input: TextToEmbed,
  { defaultPrompt, leavesOutPrompt, lowercases }: Prompted,
): NativeInput {
  if ('ids' in input) return { ids: input.ids, types: new Uint32Array(input.ids.length) };
  const { text, prompt, promptName: _, ...cut } = input;
  const asRead = (part: string): string => (lowercases ? lowered(part) : part);
  const before = asRead(prompt ?? defaultPrompt);
  return { text: before + asRead(text), ...(leavesOutPrompt && { prompt: before }), ...cut };
}

/** Each character for itself, as the tokenizers' normalizer does: a final sigma is one like others. */
function lowered(text: string): string {
  return text.replaceAll(/\p{Changes_When_Lowercased}/gu, (character) => character.toLowerCase());
}

/** @param index of the input in a list; null: it was alone. @throws EngineError INFERENCE_FAILED */
export function requireFinite({ values }: Inference, index: number | null): void {
  if (allFinite(values)) return;
  const message = 'The model gave an output that is not finite.';
  throw new EngineError('INFERENCE_FAILED', message, { index });
}
