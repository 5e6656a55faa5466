import { plural } from './format';
import { Scroller, TableHead } from './table';

/** Labelled span of a response, with offsets in UTF-16 units. */
export interface ResultSpan {
  readonly label: string;
  readonly score: number;
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** CSS class of a label's color. */
type ToneOf = (label: string) => string;

const COLUMNS = [
  { name: 'Span', isNumber: true },
  { name: 'Text' },
  { name: 'Label' },
  { name: 'Score', isNumber: true },
  { name: 'Start – end', isNumber: true },
];
/** Maximum number of table rows. */
const MAX_ROWS = 500;

interface SpanLegendProps {
  readonly spans: readonly ResultSpan[];
  /** Labels that are listed first, also those without spans. */
  readonly labels?: readonly string[];
  readonly toneOf: ToneOf;
}

/** Color and number of spans of each label. */
export function SpanLegend({ spans, labels = [], toneOf }: SpanLegendProps) {
  if (spans.length === 0) return <p>No entities found.</p>;
  const counts = new Map(labels.map((label) => [label, 0]));
  for (const { label } of spans) counts.set(label, (counts.get(label) ?? 0) + 1);
  return (
    <ul class="key" aria-label="Labels">
      {[...counts].map(([label, number]) => (
        <li key={label} class="wrap">
          <span class={`swatch ${toneOf(label)}`} aria-hidden="true" />
          {label}: {plural(number, 'span')}
        </li>
      ))}
    </ul>
  );
}

interface SpanTableProps {
  readonly text: string;
  readonly spans: readonly ResultSpan[];
  readonly toneOf: ToneOf;
}

/** Table of spans with their scores and offsets. */
export function SpanTable({ text, spans, toneOf }: SpanTableProps) {
  return (
    <>
      <Scroller label="Spans">
        <table>
          <TableHead columns={COLUMNS} />
          <tbody>
            {spans.slice(0, MAX_ROWS).map((span, index) => (
              <tr key={index}>
                <td class="number quiet">{index + 1}</td>
                <td class="wrap">
                  {text.slice(span.start, span.end)}
                  {span.word !== text.slice(span.start, span.end) && (
                    <div class="quiet">tokenized as {span.word}</div>
                  )}
                </td>
                <td class="wrap">
                  <span class="labelled">
                    <span class={`swatch ${toneOf(span.label)}`} aria-hidden="true" />
                    {span.label}
                  </span>
                </td>
                <td class="number">{span.score.toFixed(4)}</td>
                <td class="number places">
                  {span.start} – {span.end}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
      <p class="quiet">
        {spans.length > MAX_ROWS && `First ${MAX_ROWS} of ${spans.length}. `}
        Offsets are in UTF-16 units: <code>text.slice(start, end)</code> in JavaScript.
      </p>
    </>
  );
}
