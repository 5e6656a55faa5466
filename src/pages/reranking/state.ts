import { computed, signal } from '@preact/signals';
import { RerankClient } from '../../client';
import { splitLines } from '../shared/lines';
import { question } from '../shared/question';

export const query = signal('');
/** One on each line. */
export const list = signal('');
export const documents = computed(() => splitLines(list.value).map(({ text }) => text));

export const reranking = question(
  RerankClient,
  () =>
    query.value.trim() === '' || documents.value.length === 0
      ? null
      : { query: query.value, documents: documents.value },
  (client, { query, documents }) => client.rerank(query, documents),
);
