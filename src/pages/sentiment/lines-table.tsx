import { toCsv } from '../shared/csv-file';
import { downloadCsv } from '../shared/download';
import { reasonOf } from '../shared/errors';
import { count, milliseconds, percent, plural } from '../shared/format';
import type { Line } from '../shared/lines';
import { RunProgress } from '../shared/run-progress';
import { Scroller } from '../shared/scroller';
import { TableHead } from '../shared/table-head';
import { cancel, isRunning, type LineOutcome, type Table } from './state';
import { toneOf } from './tones';

const COLUMNS = [
  { name: 'Line', isNumber: true },
  { name: 'Text' },
  { name: 'Label' },
  { name: 'Score', isNumber: true },
];

/** More rows make a page slow; the file has all of them. */
const ROWS_SHOWN = 500;

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
                {outcomes.slice(0, ROWS_SHOWN).map((outcome, index) => (
                  <Row key={lines[index]?.number} line={lines[index] as Line} outcome={outcome} />
                ))}
              </tbody>
            </table>
          </Scroller>
          <div class="row ends">
            <span class="quiet">
              {done > ROWS_SHOWN && `The first ${count(ROWS_SHOWN)} are shown; the file has all.`}
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
        {outcome.ok && outcome.result.truncated && <span class="quiet"> (was cut)</span>}
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
          {reasonOf(outcome.error)}
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
  const isCut = !isRunning.value && outcomes.length < lines.length;
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
          {isCut && (
            <li>
              stopped after {count(outcomes.length)} of {plural(lines.length, 'line')}
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

/** A row for each line that is done, with the probability of each class in a column of its own. */
function tableCsv(lines: readonly Line[], outcomes: readonly LineOutcome[]): string {
  const labels = [
    ...new Set(outcomes.flatMap((o) => (o.ok ? Object.keys(o.result.probabilities) : []))),
  ];
  const header = ['line', 'text', 'label', 'score', ...labels, 'truncated', 'error'];
  const rows = outcomes.map((outcome, index) => {
    const { number, text } = lines[index] as Line;
    if (!outcome.ok)
      return [number, text, null, null, ...labels.map(() => null), null, reasonOf(outcome.error)];
    const { label, score, probabilities, truncated } = outcome.result;
    const values = labels.map((name) => probabilities[name] ?? null);
    return [number, text, label, score, ...values, String(truncated), null];
  });
  return toCsv(header, rows);
}
