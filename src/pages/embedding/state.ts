import { computed, signal } from '@preact/signals';
import { EmbedClient } from '../../client';
import { similarity } from '../../tasks/embedding/postprocess';
import { info } from '../shared/info';
import { splitLines } from '../shared/lines';
import { question } from '../shared/question';
import { project } from './projection';

/** A table of more lines cannot be read. */
export const MOST_LINES = 40;

/** One text on each line. */
export const list = signal('');
export const lines = computed(() => splitLines(list.value));
/** Of the model's prompts, one that is put before each line; empty: the model's own. */
export const promptName = signal('');
/** Index of a line of the answer, which is pointed out. */
export const chosen = signal(0);

export const embedding = question(
  EmbedClient,
  () =>
    lines.value.length === 0
      ? null
      : { lines: lines.value.slice(0, MOST_LINES), promptName: promptName.value },
  async (client, { lines, promptName }) => {
    const texts = lines.map(({ text }) => text);
    const options = { normalize: false, ...(promptName !== '' && { promptName }) };
    const vectors = await client.embedBatch(texts, options);
    chosen.value = 0;
    return { dimensions: vectors[0]?.length ?? 0, ...project(vectors), ...compare(vectors) };
  },
);

export type Compared = NonNullable<(typeof embedding)['answer']['value']>;

/** All pairs, by the model's own function. */
function compare(vectors: readonly Float32Array[]) {
  const measure = (info.value?.model.similarity ?? 'cosine') as Parameters<typeof similarity>[2];
  const similarities = vectors.map((a) => vectors.map((b) => similarity(a, b, measure)));
  const pairs = similarities.flatMap((row, i) => row.slice(i + 1));
  return { measure, similarities, lowest: Math.min(...pairs), highest: Math.max(...pairs) };
}

/** The other line that is most like one; null: there is none. */
export function nearest({ body }: Compared, index: number): number | null {
  const row = body.similarities[index] ?? [];
  return row.reduce<number | null>(
    (best, value, i) => (i === index || (best !== null && value <= (row[best] ?? 0)) ? best : i),
    null,
  );
}
