import { computed, signal } from '@preact/signals';
import { EmbedClient } from '../../client';
import { similarity } from '../../lib/numbers';
import { info } from '../shared/info';
import { splitLines } from '../shared/lines';
import { createRequest } from '../shared/request-state';
import { project } from './projection';

/** Maximum number of texts; a larger matrix is unreadable. */
export const MAX_LINES = 40;

/** Texts, one per line. */
export const list = signal('');
export const lines = computed(() => splitLines(list.value));
/** Name of the prompt before each text; empty: default prompt of the model. */
export const promptName = signal('');
/** Index of the selected text in the response. */
export const selected = signal(0);

export const embedding = createRequest(
  EmbedClient,
  () =>
    lines.value.length === 0
      ? null
      : { lines: lines.value.slice(0, MAX_LINES), promptName: promptName.value },
  async (client, { lines, promptName }) => {
    const texts = lines.map(({ text }) => text);
    const options = { normalize: false, ...(promptName !== '' && { promptName }) };
    const vectors = await client.embedBatch(texts, options);
    selected.value = 0;
    return { dimensions: vectors[0]?.length ?? 0, ...project(vectors), ...compare(vectors) };
  },
);

export type Comparison = NonNullable<(typeof embedding)['response']['value']>;

/** Computes the similarity of all pairs with the similarity function of the model. */
function compare(vectors: readonly Float32Array[]) {
  const measure = (info.value?.model.similarity ?? 'cosine') as Parameters<typeof similarity>[2];
  const similarities = vectors.map((a) => vectors.map((b) => similarity(a, b, measure)));
  const pairs = similarities.flatMap((row, i) => row.slice(i + 1));
  return { measure, similarities, lowest: Math.min(...pairs), highest: Math.max(...pairs) };
}

/** Returns the index of the most similar other text; null if the response has only one text. */
export function nearest({ body }: Comparison, index: number): number | null {
  const row = body.similarities[index] ?? [];
  return row.reduce<number | null>(
    (best, value, i) => (i === index || (best !== null && value <= (row[best] ?? 0)) ? best : i),
    null,
  );
}
