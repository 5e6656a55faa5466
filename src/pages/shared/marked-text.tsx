import { type Piece, type Place, piecesOf } from './pieces';
import { Scroller } from './scroller';

/** A span of a text, as it is shown. */
export interface Mark extends Place {
  readonly label: string;
  /** Class of its colour. */
  readonly tone: string;
}

interface MarkedTextProps {
  /** What it is. */
  readonly name: string;
  readonly text: string;
  readonly marks: readonly Mark[];
}

/** A text with its spans, each with its label. */
export function MarkedText({ name, text, marks }: MarkedTextProps) {
  return (
    <Scroller label={name}>
      <p class="marked" dir="auto">
        {piecesOf(text.length, marks).map((piece) => (
          <MarkedPiece key={piece.start} text={text} piece={piece} />
        ))}
      </p>
    </Scroller>
  );
}

/** With the labels of all spans that it is part of. */
function MarkedPiece({ text, piece }: { readonly text: string; readonly piece: Piece<Mark> }) {
  const { start, end, spans } = piece;
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
