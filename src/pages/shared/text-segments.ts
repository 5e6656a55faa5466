/** Range of a text, in UTF-16 units; `end` is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** Range of a text that one set of spans covers completely. */
export interface TextSegment<Span> extends TextRange {
  /** Spans in input order; empty between spans. */
  readonly spans: readonly Span[];
}

/**
 * Splits a text at each start and end of a span. Spans can overlap: if a character has several tokens, the span of
 * each token contains the whole character. Empty spans are ignored.
 *
 * @param length length of the text in UTF-16 units
 */
export function splitIntoSegments<Span extends TextRange>(
  length: number,
  spans: readonly Span[],
): readonly TextSegment<Span>[] {
  const cuts = [...new Set([0, length, ...spans.flatMap(({ start, end }) => [start, end])])].sort(
    (a, b) => a - b,
  );
  const sorted = spans
    .filter(({ start, end }) => start < end)
    .map((span, order) => ({ span, order }))
    .sort((a, b) => a.span.start - b.span.start || a.order - b.order);
  const segments: TextSegment<Span>[] = [];
  let open: typeof sorted = [];
  let next = 0;
  for (const [index, end] of cuts.slice(1).entries()) {
    const start = cuts[index] as number;
    open = open.filter(({ span }) => span.end > start);
    for (; sorted[next]?.span.start === start; next++) open.push(sorted[next] as (typeof open)[0]);
    const covering = [...open].sort((a, b) => a.order - b.order).map(({ span }) => span);
    segments.push({ start, end, spans: covering });
  }
  return segments;
}
