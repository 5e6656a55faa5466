import { downloadCsv } from '../shared/download';
import { errorMessage } from '../shared/errors';
import { count, milliseconds, percent, plural, toCsv } from '../shared/format';
import type { Line } from '../shared/lines';
import { RunProgress } from '../shared/run-progress';
import { Scroller, TableHead } from '../shared/table';
import { cancel, isRunning, type LineOutcome, type Table, toneOf } from './sentiment-state';

const COLUMNS = [
  { name: 'Line', isNumber: true },
  { name: 'Text' },
  { name: 'Label' },
  { name: 'Score', isNumber: true },
];

/** Maximum number of table rows; the CSV file contains all rows. */
const MAX_ROWS = 500;

export function LinesTable({ table }: { readonly table: Table }) {
  const { lines, outcomes } = table;
  const done = outcomes.length;
  return (
    <>
      <RunProgress
        done={done}
        total={lines.length}
        noun="line"
        isRunning={isRunning.value}
        onCancel={cancel}
      />
      <Summary table={table} />
      {done > 0 && (
        <>
          <Scroller label="Results by line">
            <table>
              <TableHead columns={COLUMNS} />
              <tbody>
                {outcomes.slice(0, MAX_ROWS).map((outcome, index) => (
                  <Row key={lines[index]?.number} line={lines[index] as Line} outcome={outcome} />
                ))}
              </tbody>
            </table>
          </Scroller>
          <div class="row ends">
            <span class="quiet">
              {done > MAX_ROWS && `First ${count(MAX_ROWS)} rows. The CSV file contains all rows.`}
            </span>
            <button
              type="button"
              disabled={isRunning.value}
              onClick={() => downloadCsv('sentiment.csv', tableCsv(lines, outcomes))}
            >
              Download CSV
            </button>
          </div>
        </>
      )}
    </>
  );
}

function Row({ line, outcome }: { readonly line: Line; readonly outcome: LineOutcome }) {
  return (
    <tr>
      <td class="number quiet">{line.number}</td>
      <td class="wrap">
        {shorten(line.text)}
        {outcome.ok && outcome.result.truncated && <span class="quiet"> (truncated)</span>}
      </td>
      {outcome.ok ? (
        <>
          <td>
            <span class="labelled">
              <span class={`swatch tone-${toneOf(outcome.result.label)}`} aria-hidden="true" />
              {outcome.result.label}
            </span>
          </td>
          <td class="number">{outcome.result.score.toFixed(4)}</td>
        </>
      ) : (
        <td class="wrap failed" colSpan={2}>
          {errorMessage(outcome.error)}
        </td>
      )}
    </tr>
  );
}

function Summary({ table: { lines, outcomes, ms } }: { readonly table: Table }) {
  const labels = new Map<string, number>();
  let failed = 0;
  for (const outcome of outcomes) {
    if (outcome.ok) labels.set(outcome.result.label, (labels.get(outcome.result.label) ?? 0) + 1);
    else failed++;
  }
  const isCancelled = !isRunning.value && outcomes.length < lines.length;
  return (
    <div role="status" class="status-region">
      {outcomes.length > 0 && !isRunning.value && (
        <ul class="key">
          {[...labels].map(([label, number]) => (
            <li key={label}>
              <span class={`swatch tone-${toneOf(label)}`} aria-hidden="true" />
              {label}: {count(number)} ({percent(number / outcomes.length)})
            </li>
          ))}
          <li>in {milliseconds(ms)}</li>
          {failed > 0 && <li class="failed">{plural(failed, 'error')}</li>}
          {isCancelled && (
            <li>
              cancelled after {count(outcomes.length)} of {plural(lines.length, 'line')}
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

function shorten(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** CSV with one row per outcome and one probability column per label. */
function tableCsv(lines: readonly Line[], outcomes: readonly LineOutcome[]): string {
  const labels = [
    ...new Set(outcomes.flatMap((o) => (o.ok ? Object.keys(o.result.probabilities) : []))),
  ];
  const header = ['line', 'text', 'label', 'score', ...labels, 'truncated', 'error'];
  const rows = outcomes.map((outcome, index) => {
    const { number, text } = lines[index] as Line;
    if (!outcome.ok)
      return [
        number,
        text,
        null,
        null,
        ...labels.map(() => null),
        null,
        errorMessage(outcome.error),
      ];
    const { label, score, probabilities, truncated } = outcome.result;
    const values = labels.map((name) => probabilities[name] ?? null);
    return [number, text, label, score, ...values, String(truncated), null];
  });
  return toCsv(header, rows);
}
