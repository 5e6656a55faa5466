import type { InferOptions, TextInput } from '../native/engine';
import { ServiceError } from '../serving/errors';
import { FLOAT_JSON_BYTES, requireResponseSize } from '../serving/response-size';
import type {
  ModelMetadata,
  Predictor,
  Prompted,
  TextEmbedder,
  TextToEmbed,
} from '../tasks/abilities';
import { similarity } from '../tasks/embedding/postprocess';
import { runList } from './route';
import type { TextOrIds } from './validation/texts-or-ids';

/** How texts are read: with which prompt, and how they are cut. */
export interface Reading extends Pick<TextInput, 'truncation' | 'truncationSide'> {
  /** Of the model's prompts; null: its own. */
  readonly promptName: string | null;
}

/** What a model of vectors is given. @throws ServiceError: it has no such prompt, or no such token */
export function toEmbed(
  {
    metadata,
    monitor,
  }: Pick<Predictor<TextToEmbed, unknown, ModelMetadata & Prompted>, 'metadata' | 'monitor'>,
  elements: readonly TextOrIds[],
  { promptName, ...cut }: Reading,
): readonly TextToEmbed[] {
  const prompt =
    promptName === null ? {} : { prompt: requirePrompt(metadata.prompts, promptName), promptName };
  const { vocabularySize } = monitor.description;
  return elements.map((element) => {
    if (typeof element === 'string') return { text: element, ...prompt, ...cut };
    requireKnownIds(element, vocabularySize);
    return { ids: Uint32Array.from(element) };
  });
}

function requireKnownIds(ids: readonly number[], size: number): void {
  if (size === 0) {
    const message = 'input: expected texts: a program does not say which token ids there are';
    throw new ServiceError('BODY_INVALID', message);
  }
  const unknown = ids.find((id) => id >= size);
  if (unknown === undefined) return;
  const message = `input: there is no token ${unknown}: the model's ids are below ${size}`;
  throw new ServiceError('BODY_INVALID', message);
}

function requirePrompt(prompts: Readonly<Record<string, string>>, name: string): string {
  const prompt = Object.hasOwn(prompts, name) ? prompts[name] : undefined;
  if (prompt !== undefined) return prompt;
  const known = Object.keys(prompts).join(', ') || 'it has none';
  throw new ServiceError('BODY_INVALID', `prompt_name: the model has no such prompt (${known})`);
}

/** @throws ServiceError: the model's vectors are shorter */
export function requireDimensions(
  { metadata }: TextEmbedder,
  asked: number | null | undefined,
): number {
  const { dimensions } = metadata;
  if (asked == null || asked <= dimensions) return asked ?? dimensions;
  const message = `dimensions: expected at most ${dimensions}, the length of the model's vectors`;
  throw new ServiceError('BODY_INVALID', message);
}

/** @throws ServiceError RESPONSE_TOO_LARGE: so many vectors are more than a response may have */
export function requireVectorsSize(count: number, dimensions: number, limit: number): void {
  requireResponseSize(count * dimensions * FLOAT_JSON_BYTES, limit);
}

/** The cosine of a sentence's vector with those of others. */
export async function compare(
  model: TextEmbedder,
  { source, sentences }: { readonly source: string; readonly sentences: readonly string[] },
  reading: Reading,
  options: InferOptions,
) {
  const inputs = toEmbed(model, [source, ...sentences], reading);
  const { answers, inferences } = await runList(model, inputs, options, null);
  const [first, ...others] = answers.map(({ vector }) => vector);
  const cosines = others.map((other) =>
    Math.fround(similarity(first as Float32Array, other, 'cosine')),
  );
  return { cosines, inferences };
}
