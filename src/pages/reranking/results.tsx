import { useLayoutEffect, useRef } from 'preact/hooks';
import type { RankedDocument } from '../../client';
import { AnswerCard } from '../shared/answer-card';
import { plural } from '../shared/format';
import { moveFrom } from './move';
import { reranking } from './state';

/** More of them make a page slow. */
const MOST_SHOWN = 200;

/** The documents, the best one first. */
export function Results() {
  return (
    <AnswerCard
      question={reranking}
      empty="The documents will be here, by how well they answer the query, each with its score and the place that it had."
      cut="Some of it was cut."
      announce={({ input, body: [best] }) =>
        `Best of ${plural(input.documents.length, 'document')}: ${input.documents[best?.index ?? 0]}`
      }
    >
      {({ input, body }) => (
        <>
          <RankedList documents={input.documents} ranking={body.slice(0, MOST_SHOWN)} />
          {body.length > MOST_SHOWN && (
            <p class="quiet">
              The first {MOST_SHOWN} of {body.length} are shown.
            </p>
          )}
        </>
      )}
    </AnswerCard>
  );
}

interface RankedListProps {
  readonly documents: readonly string[];
  readonly ranking: readonly RankedDocument[];
}

/** Each moves from where it was entered to its rank. */
function RankedList({ documents, ranking }: RankedListProps) {
  const list = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    const items = [...(list.current?.children ?? [])] as HTMLElement[];
    moveFrom(
      items,
      ranking.map(({ index }) => index),
    );
  }, [ranking]);
  const areShares = ranking.every(({ score }) => score >= 0 && score <= 1);
  return (
    <ol class="ranking bars" ref={list} aria-label="Documents by rank">
      {ranking.map(({ index, score }, rank) => (
        <li key={index} class={rank === 0 ? 'top-one' : ''}>
          <span class="wrap" dir="auto">
            {documents[index]}
          </span>
          <span>{score.toFixed(4)}</span>
          <span class="quiet moved">{describeMove(index, rank)}</span>
          {areShares && (
            <span class="track" aria-hidden="true">
              <span class="fill tone-0" style={{ width: `${score * 100}%` }} />
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

/** @param before its place in the list that was entered, from 0 */
function describeMove(before: number, rank: number): string {
  const places = before - rank;
  if (places === 0) return `Rank ${rank + 1} · as entered`;
  const way = places > 0 ? `up ${places}` : `down ${-places}`;
  return `Rank ${rank + 1} · entered as ${before + 1} · ${way}`;
}
