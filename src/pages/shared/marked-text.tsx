import { Scroller } from './table';
import { splitIntoSegments, type TextRange, type TextSegment } from './text-segments';

/** Labelled span of a text. */
export interface Mark extends TextRange {
  readonly label: string;
  /** CSS class of the span's color. */
  readonly tone: string;
}

interface MarkedTextProps {
  readonly name: string;
  readonly text: string;
  readonly marks: readonly Mark[];
}

/** Text with highlighted, labelled spans. */
export function MarkedText({ name, text, marks }: MarkedTextProps) {
  return (
    <Scroller label={name}>
      <p class="marked" dir="auto">
        {splitIntoSegments(text.length, marks).map((segment) => (
          <MarkedSegment key={segment.start} text={text} segment={segment} />
        ))}
      </p>
    </Scroller>
  );
}

interface MarkedSegmentProps {
  readonly text: string;
  readonly segment: TextSegment<Mark>;
}

/** Segment with the labels of all spans that cover it. */
function MarkedSegment({ text, segment: { start, end, spans } }: MarkedSegmentProps) {
  const part = text.slice(start, end);
  const [first] = spans;
  if (!first) return <>{part}</>;
  const labels = [...new Set(spans.map(({ label }) => label))];
  return (
    <mark class={first.tone}>
      {part}
      <span class="label">{labels.join(' ')}</span>
    </mark>
  );
}
