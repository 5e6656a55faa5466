import type { ComponentChildren } from 'preact';
import { info } from './info';
import { ErrorNote, Note } from './note';
import type { Answered, Asked, Question } from './question';
import { TimeSpent } from './time-spent';

interface ResultCardProps {
  readonly asked: Asked;
  /** For screen readers: the answer in short; null: there is none. */
  readonly announcement: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Where the answer will be, or why there is none. */
export function ResultCard({ asked, announcement, children }: ResultCardProps) {
  const { isAsking, problem, ask } = asked;
  return (
    <section class="card" aria-labelledby="results" aria-busy={isAsking.value}>
      <h2 id="results">Result</h2>
      <div role="status" class="status-region">
        {problem.value && <ErrorNote explanation={problem.value} onRetry={ask} />}
        {announcement && <span class="visually-hidden">{announcement}</span>}
      </div>
      {children}
    </section>
  );
}

interface AnswerCardProps<Input, Body> {
  readonly question: Question<Input, Body>;
  /** What will be here. */
  readonly empty: string;
  /** That the model has not read all of it. */
  readonly cut?: string;
  readonly announce: (answer: Answered<Input, Body>) => string;
  readonly children: (answer: Answered<Input, Body>) => ComponentChildren;
}

/** The answer to a question, and where its time went. */
export function AnswerCard<Input, Body>({
  question,
  empty,
  cut = 'The text was cut.',
  announce,
  children,
}: AnswerCardProps<Input, Body>) {
  const answer = question.answer.value;
  return (
    <ResultCard
      asked={question}
      announcement={answer && announce(answer) + (answer.isCut ? `. ${cut}` : '')}
    >
      {answer && (
        <div class="answer">
          {answer.isCut && <CutNote title={cut} />}
          {children(answer)}
          <TimeSpent timings={answer.timings} />
        </div>
      )}
      {!answer && !question.problem.value && <p class="quiet">{empty}</p>}
    </ResultCard>
  );
}

/** That the model has not read all of a text. */
export function CutNote({ title = 'The text was cut.' }: { readonly title?: string }) {
  return (
    <Note tone="warn" title={title}>
      The model reads at most {info.value?.model.max_length ?? 'so many'} tokens; what is beyond
      them played no part in this answer.
    </Note>
  );
}
