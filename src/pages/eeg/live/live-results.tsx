import type { WindowResult } from '../../../client';
import { clock, count, percent, plural } from '../../shared/format';
import { Scroller, TableHead } from '../../shared/table';
import { toneOf } from '../tones';
import { type Live, shown } from './live';

/** Number of windows in the table. */
const LAST = 8;
const COLUMNS = [
  { name: 'Window', isNumber: true },
  { name: 'Begins', isNumber: true },
  { name: 'Answer' },
];

type Problem = WindowResult['quality']['problems'][number];

const PROBLEM_WORDS: Readonly<Record<Problem, string>> = {
  not_finite: 'samples missing',
  flat: 'flat',
  clipped: 'clipped',
  amplitude: 'amplitude out of range',
  jump: 'jumps',
  mains_hum: 'mains hum',
};

/** Results of the last windows, and a summary of all windows. */
export function LiveResults({ live: { windows } }: { readonly live: Live }) {
  shown.value; // Dependency: the list is mutable.
  const last = windows.slice(-LAST).reverse();
  return (
    <>
      <Counts windows={windows} />
      {last.length > 0 && (
        <Scroller label="The last windows">
          <table>
            <caption class="visually-hidden">The last windows, the newest first</caption>
            <TableHead columns={COLUMNS} />
            <tbody>
              {last.map((window) => (
                <Row key={window.window} window={window} />
              ))}
            </tbody>
          </table>
        </Scroller>
      )}
    </>
  );
}

function Row({ window: { window, time, skipped, quality, ...result } }: { window: WindowResult }) {
  return (
    <tr>
      <td class="number">
        {count(window)}
        {skipped && <div class="quiet">{count(skipped)} skipped before</div>}
      </td>
      <td class="number">{clock(Number(time))}</td>
      <td class="wrap">
        <Verdict {...result} />
        {result.smoothed && (
          <div class="quiet">
            smoothed: <Verdict {...result.smoothed} />
          </div>
        )}
        {quality.problems.length > 0 && (
          <div class="suspect">
            {quality.problems.map((name) => PROBLEM_WORDS[name]).join(', ')}
          </div>
        )}
      </td>
    </tr>
  );
}

function Verdict({
  diagnosis,
  confidence,
  error,
}: Pick<WindowResult, 'diagnosis' | 'confidence' | 'error'>) {
  if (diagnosis === null) return <span class="quiet">{error ?? 'not classified'}</span>;
  return (
    <span class="labelled">
      <span class={`swatch tone-${toneOf(diagnosis)}`} aria-hidden="true" />
      {diagnosis} {percent(confidence ?? 0)}
    </span>
  );
}

function Counts({ windows }: { readonly windows: readonly WindowResult[] }) {
  shown.value;
  const classes = new Map<string, number>();
  const problems = new Map<Problem, number>();
  let [skipped, unclassified] = [0, 0];
  for (const { diagnosis, quality, skipped: before = 0 } of windows) {
    skipped += before;
    if (diagnosis === null) unclassified++;
    else classes.set(diagnosis, (classes.get(diagnosis) ?? 0) + 1);
    for (const name of quality.problems) problems.set(name, (problems.get(name) ?? 0) + 1);
  }
  return (
    <ul class="key" aria-label="Streamed windows by class">
      {[...classes].map(([name, number]) => (
        <li key={name}>
          <span class={`swatch tone-${toneOf(name)}`} aria-hidden="true" />
          {name}: {count(number)}
        </li>
      ))}
      {unclassified > 0 && <li>no prediction: {count(unclassified)}</li>}
      {[...problems].map(([name, number]) => (
        <li key={name} class="suspect">
          {PROBLEM_WORDS[name]}: {count(number)}
        </li>
      ))}
      {skipped > 0 && <li class="failed">{plural(skipped, 'window')} skipped</li>}
    </ul>
  );
}
