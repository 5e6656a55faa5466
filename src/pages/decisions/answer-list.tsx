import type { DecideResponse, QuestionInput } from '../../client';
import { percent } from '../shared/format';
import { ScoreBars } from '../shared/score-bars';

type Answer = DecideResponse['answers'][number];

interface AnswerListProps {
  readonly answers: readonly Answer[];
  readonly questions: readonly QuestionInput[];
}

/** Answer and distribution of each question. */
export function AnswerList({ answers, questions }: AnswerListProps) {
  return (
    <>
      {answers.map((answer, index) => (
        <AnswerSection
          key={index}
          answer={answer}
          question={questions[index] as QuestionInput}
          number={index + 1}
        />
      ))}
    </>
  );
}

interface AnswerSectionProps {
  readonly answer: Answer;
  readonly question: QuestionInput;
  /** Number of the question, from 1. */
  readonly number: number;
}

function AnswerSection({ answer, question, number }: AnswerSectionProps) {
  const heading = `answer-${number}`;
  const scores = distributionOf(answer, question);
  const { verdict, detail } = verdictOf(answer);
  const instructions = typeof question.instructions === 'string' ? question.instructions : null;
  return (
    <section class="decision" aria-labelledby={heading}>
      <h3 id={heading} class="wrap">
        Question {number}
        {answer.name !== null && `: ${answer.name}`}
      </h3>
      {instructions !== null && <p class="quiet wrap">{instructions}</p>}
      <p class="verdict">
        <strong>{verdict}</strong>
        <span class="quiet">{detail}</span>
      </p>
      {answer.truncated && <p class="truncated">The state was truncated for this question.</p>}
      <ScoreBars
        scores={scores}
        name={`Probabilities of question ${number}`}
        top={topOf(scores)}
        toneOf={() => 0}
      />
      {answer.type !== 'predicate' && <Confidence value={answer.confidence} number={number} />}
    </section>
  );
}

function Confidence({ value, number }: { readonly value: number; readonly number: number }) {
  return (
    <div class="confidence">
      <span>Confidence</span>
      <span>{percent(value)}</span>
      <meter
        class="visually-hidden"
        min={0}
        max={1}
        value={value}
        aria-label={`Confidence of question ${number}`}
      >
        {percent(value)}
      </meter>
      <span class="track" aria-hidden="true">
        <span class="fill tone-3" style={{ width: `${value * 100}%` }} />
      </span>
    </div>
  );
}

/** Result in a few words: the most probable outcome and its probability, or the mean level and the scale. */
function verdictOf(answer: Answer): { readonly verdict: string; readonly detail: string } {
  switch (answer.type) {
    case 'predicate': {
      const { probability } = answer;
      return probability >= 0.5
        ? { verdict: 'True', detail: percent(probability) }
        : { verdict: 'False', detail: percent(1 - probability) };
    }
    case 'choice': {
      const { choice, probabilities } = answer;
      const chosen = probabilities.find(({ label }) => label === choice);
      return { verdict: choice, detail: percent(chosen?.probability ?? 0) };
    }
    case 'score': {
      const highest = answer.probabilities.length - 1;
      return { verdict: answer.score.toFixed(2), detail: `mean level, from 0 to ${highest}` };
    }
  }
}

/** Result of a question for screen readers. */
export function announcementOf(answer: Answer, index: number): string {
  const { verdict, detail } = verdictOf(answer);
  return `${answer.name ?? `Question ${index + 1}`}: ${verdict}, ${detail}`;
}

/** Unique label and probability of each outcome, in the order of the question. */
function distributionOf(
  answer: Answer,
  question: QuestionInput,
): readonly (readonly [label: string, probability: number])[] {
  switch (answer.type) {
    case 'predicate':
      return [
        ['True', answer.probability],
        ['False', 1 - answer.probability],
      ];
    case 'choice':
      return answer.probabilities.map(({ label, probability }) => [label, probability]);
    case 'score': {
      const levels = question.type === 'score' ? question.levels : [];
      return answer.probabilities.map((probability, level) => {
        const text = levels[level];
        return [typeof text === 'string' ? `${level}: ${text}` : `${level}`, probability];
      });
    }
  }
}

function topOf(scores: readonly (readonly [string, number])[]): string {
  return scores.reduce(
    (best, score) => (score[1] > best[1] ? score : best),
    scores[0] ?? ['', 0],
  )[0];
}
