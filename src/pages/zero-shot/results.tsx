import { AnswerCard } from '../shared/answer-card';
import { percent } from '../shared/format';
import { ProbabilityBars } from '../shared/probability-bars';
import { zeroShot } from './state';

const toneOf = (): number => 0;

/** The labels, the best one first. */
export function Results() {
  return (
    <AnswerCard
      question={zeroShot}
      empty="The labels and their scores will be here, the best one first."
      announce={({ body: { labels, scores } }) => `${labels[0]}, ${percent(scores[0] ?? 0)}`}
    >
      {({ input: { multiLabel }, body: { labels, scores } }) => (
        <>
          <p class="verdict">
            <strong>{labels[0]}</strong>
            <span class="quiet">{percent(scores[0] ?? 0)}</span>
          </p>
          <ProbabilityBars
            scores={labels.map((label, index) => [label, scores[index] ?? 0])}
            top={labels[0] ?? ''}
            toneOf={toneOf}
          />
          <p class="quiet">
            {multiLabel
              ? 'Each label by itself: entailment against contradiction.'
              : 'The scores of all labels add up to 100 %.'}
          </p>
        </>
      )}
    </AnswerCard>
  );
}
