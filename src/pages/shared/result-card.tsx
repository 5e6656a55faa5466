import type { ComponentChildren } from 'preact';
import { info } from './info';
import { ErrorNote, Note } from './note';
import type { CompletedRequest, FormState, RequestState } from './request-state';
import { TimingBreakdown } from './timing-breakdown';

interface ResultCardProps {
  readonly form: FormState;
  /** Short result for screen readers; null if no result. */
  readonly announcement: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Card with the result of a request, or its error. */
export function ResultCard({ form, announcement, children }: ResultCardProps) {
  const { isPending, problem, submit } = form;
  return (
    <section class="card" aria-labelledby="results" aria-busy={isPending.value}>
      <h2 id="results">Result</h2>
      <div role="status" class="status-region">
        {problem.value && <ErrorNote explanation={problem.value} onRetry={submit} />}
        {announcement && <span class="visually-hidden">{announcement}</span>}
      </div>
      {children}
    </section>
  );
}

interface RequestResultCardProps<Input, Body> {
  readonly request: RequestState<Input, Body>;
  /** Placeholder before the first response. */
  readonly empty: string;
  /** Title of the note on truncation. */
  readonly truncation?: string;
  readonly announce: (response: CompletedRequest<Input, Body>) => string;
  readonly children: (response: CompletedRequest<Input, Body>) => ComponentChildren;
}

/** Card with the response of a request and its timing breakdown. */
export function RequestResultCard<Input, Body>({
  request,
  empty,
  truncation = 'The text was truncated.',
  announce,
  children,
}: RequestResultCardProps<Input, Body>) {
  const response = request.response.value;
  return (
    <ResultCard
      form={request}
      announcement={
        response && announce(response) + (response.isTruncated ? `. ${truncation}` : '')
      }
    >
      {response && (
        <div class="answer">
          {response.isTruncated && <TruncationNote title={truncation} />}
          {children(response)}
          <TimingBreakdown timings={response.timings} />
        </div>
      )}
      {!response && !request.problem.value && <p class="quiet">{empty}</p>}
    </ResultCard>
  );
}

/** Note that the model ignored the end of the input. */
export function TruncationNote({ title = 'The text was truncated.' }: { readonly title?: string }) {
  const maxLength = info.value?.model.max_length;
  return (
    <Note tone="warn" title={title}>
      {maxLength ? `The model reads at most ${maxLength} tokens` : 'The model has a maximum length'}
      ; further tokens were ignored.
    </Note>
  );
}
