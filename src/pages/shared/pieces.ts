/** A part of a text from `start` to `end`, in UTF-16 units. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** A part of a text that the same spans cover from its first unit to its last one. */
export interface Piece<Span> extends Place {
  /** In the order in which they came; none: it is between spans. */
  readonly spans: readonly Span[];
}

/**
 * A text cut wherever a span begins or ends. Spans may overlap: a character that became several tokens is
 * whole in each of them. Those that cover nothing are in no piece.
 *
 * @param length of the text, in UTF-16 units
 */
export function piecesOf<Span extends Place>(
  length: number,
  spans: readonly Span[],
): readonly Piece<Span>[] {
  const cuts = [...new Set([0, length, ...spans.flatMap(({ start, end }) => [start, end])])].sort(
    (a, b) => a - b,
  );
  const begins = spans
    .filter(({ start, end }) => start < end)
    .map((span, order) => ({ span, order }))
    .sort((a, b) => a.span.start - b.span.start || a.order - b.order);
  const pieces: Piece<Span>[] = [];
  let open: typeof begins = [];
  let next = 0;
  for (const [index, end] of cuts.slice(1).entries()) {
    const start = cuts[index] as number;
    open = open.filter(({ span }) => span.end > start);
    for (; begins[next]?.span.start === start; next++) open.push(begins[next] as (typeof open)[0]);
    const covering = [...open].sort((a, b) => a.order - b.order).map(({ span }) => span);
    pieces.push({ start, end, spans: covering });
  }
  return pieces;
}
