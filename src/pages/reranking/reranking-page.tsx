import { batch, computed, signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type RankedDocument, RerankClient } from '../../client';
import { plural } from '../shared/format';
import { splitLines } from '../shared/lines';
import { startTaskPage } from '../shared/page';
import { ExampleButton, RequestForm, TextArea, TextLine } from '../shared/request-form';
import { createRequest } from '../shared/request-state';
import { RequestResultCard } from '../shared/result-card';
import './reranking.css';

const EXAMPLE = {
  query: 'How long is the film?',
  documents: [
    'The cast is wonderful; the script, sadly, is not.',
    'It was shot in Iceland over one summer.',
    'With a running time of 142 minutes it never drags.',
    'Tickets are twelve euros, eight for students.',
    'You will sit there for more than two hours, and not notice.',
    'The director has made three short films before.',
  ],
};
/** Maximum number of documents shown. */
const MAX_SHOWN = 200;
const ANIMATION = { duration: 450, easing: 'cubic-bezier(0.3, 0, 0.2, 1)' };

const query = signal('');
/** Documents, one per line. */
const list = signal('');
const documents = computed(() => splitLines(list.value).map(({ text }) => text));

const reranking = createRequest(
  RerankClient,
  () =>
    query.value.trim() === '' || documents.value.length === 0
      ? null
      : { query: query.value, documents: documents.value },
  (client, { query, documents }) => client.rerank(query, documents),
);

function Composer() {
  return (
    <RequestForm
      form={reranking}
      verb="Rank"
      busy="Ranking…"
      amount={plural(documents.value.length, 'document')}
      below={<ExampleButton label="Rank an example" onClick={rankExample} />}
    >
      <TextLine id="query" label="Query" placeholder="Question or search terms" value={query} />
      <TextArea
        id="documents"
        label="Documents, one per line"
        rows={9}
        placeholder="Paste a list here"
        value={list}
      />
    </RequestForm>
  );
}

function rankExample(): void {
  batch(() => {
    query.value = EXAMPLE.query;
    list.value = EXAMPLE.documents.join('\n');
  });
  reranking.submit().catch(reportError);
}

function Results() {
  return (
    <RequestResultCard
      request={reranking}
      empty="The documents by relevance to the query, each with its score and input position."
      truncation="At least one document was truncated."
      announce={({ input, body: [best] }) =>
        `Best of ${plural(input.documents.length, 'document')}: ${input.documents[best?.index ?? 0]}`
      }
    >
      {({ input, body }) => (
        <>
          <RankedList documents={input.documents} ranking={body.slice(0, MAX_SHOWN)} />
          {body.length > MAX_SHOWN && (
            <p class="quiet">
              First {MAX_SHOWN} of {body.length}.
            </p>
          )}
        </>
      )}
    </RequestResultCard>
  );
}

interface RankedListProps {
  readonly documents: readonly string[];
  readonly ranking: readonly RankedDocument[];
}

/** Ranked documents, each animated from its input position to its rank. */
function RankedList({ documents, ranking }: RankedListProps) {
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    const items = [...(list.current?.children ?? [])] as HTMLElement[];
    animateReorder(
      items,
      ranking.map(({ index }) => index),
    );
  }, [ranking]);
  const areProbabilities = ranking.every(({ score }) => score >= 0 && score <= 1);
  return (
    <ol class="ranking bars" ref={list} aria-label="Documents by rank">
      {ranking.map(({ index, score }, rank) => (
        <li key={index} class={rank === 0 ? 'top-one' : ''}>
          <span class="wrap" dir="auto">
            {documents[index]}
          </span>
          <span>{score.toFixed(4)}</span>
          <span class="quiet moved">{describeMove(index, rank)}</span>
          {areProbabilities && (
            <span class="track" aria-hidden="true">
              <span class="fill tone-0" style={{ width: `${score * 100}%` }} />
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

/**
 * Animates list items from their previous order to the current order, unless the user prefers reduced motion.
 *
 * @param before index of each item in the previous order
 */
function animateReorder(items: readonly HTMLElement[], before: readonly number[]): void {
  const [first] = items;
  if (!first || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const gap = items[1] ? items[1].offsetTop - first.offsetTop - first.offsetHeight : 0;
  const previous = [...items].sort(
    (a, b) => (before[items.indexOf(a)] ?? 0) - (before[items.indexOf(b)] ?? 0),
  );
  let top = first.offsetTop;
  for (const item of previous) {
    const from = `translateY(${top - item.offsetTop}px)`;
    item.animate([{ transform: from }, { transform: 'none' }], ANIMATION);
    top += item.offsetHeight + gap;
  }
}

/** @param before input position, from 0 */
function describeMove(before: number, rank: number): string {
  const places = before - rank;
  if (places === 0) return `Rank ${rank + 1} · same position`;
  const change = places > 0 ? `up ${places}` : `down ${-places}`;
  return `Rank ${rank + 1} · input position ${before + 1} · ${change}`;
}

startTaskPage('Reranking', Composer, Results);
