import type { ComponentChildren } from 'preact';
import type { Explanation } from './errors';

interface NoteProps {
  readonly tone?: 'info' | 'warn' | 'bad';
  readonly title: string;
  /** Original error message. */
  readonly detail?: string | null;
  readonly children?: ComponentChildren;
}

export function Note({ tone = 'info', title, detail, children }: NoteProps) {
  return (
    <div class={`note ${tone}`}>
      <strong>{title}</strong>
      {children && <div>{children}</div>}
      {detail && <div class="detail">{detail}</div>}
    </div>
  );
}

interface ErrorNoteProps {
  readonly explanation: Explanation;
  readonly onRetry?: () => void;
}

export function ErrorNote({ explanation: { title, advice, detail }, onRetry }: ErrorNoteProps) {
  return (
    <Note tone="bad" title={title} detail={detail}>
      <div class="row ends">
        <span>{advice}</span>
        {onRetry && (
          <button type="button" class="small" onClick={onRetry}>
            Try again
          </button>
        )}
      </div>
    </Note>
  );
}
