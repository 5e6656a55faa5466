import { Scroller } from '../shared/scroller';
import { TableHead } from '../shared/table-head';
import { toneOf } from './file';
import { type Finding, guarding, judged } from './state';

const COLUMNS = [
  { name: 'Finding', isNumber: true },
  { name: 'Check' },
  { name: 'Label' },
  { name: 'Score', isNumber: true },
  { name: 'Text' },
  { name: 'Action' },
  { name: 'Found in' },
  { name: 'From – to', isNumber: true },
];

/** More rows make a page slow. */
const ROWS_SHOWN = 500;

/** All that was found in the texts, if anything was. */
export function FindingsCard() {
  const texts = guarding.answer.value?.input.texts ?? [];
  const findings = judged.value?.findings ?? [];
  if (findings.length === 0) return null;
  return (
    <section class="card" aria-labelledby="findings">
      <h2 id="findings">Findings</h2>
      <Scroller label="Table of findings">
        <table>
          <TableHead columns={COLUMNS} />
          <tbody>
            {findings.slice(0, ROWS_SHOWN).map((finding, index) => (
              <Row key={index} number={index + 1} finding={finding} texts={texts} />
            ))}
          </tbody>
        </table>
      </Scroller>
      <p class="quiet">
        {findings.length > ROWS_SHOWN &&
          `The first ${ROWS_SHOWN} of ${findings.length} are shown. `}
        Places count UTF-16 units, as <code>text.slice(from, to)</code> in JavaScript.
      </p>
    </section>
  );
}

interface RowProps {
  readonly number: number;
  readonly finding: Finding;
  readonly texts: readonly string[];
}

function Row({ number, finding, texts }: RowProps) {
  const { check, label, score, part, start, end, view, action } = finding;
  const isSpan = part !== null && start !== null && end !== null;
  return (
    <tr>
      <td class="number quiet">{number}</td>
      <td>
        <span class="labelled">
          <span class={`swatch ${toneOf(check)}`} aria-hidden="true" />
          {check}
        </span>
      </td>
      <td>{label}</td>
      <td class="number">{score.toFixed(4)}</td>
      <td class="wrap found">
        {isSpan ? (
          texts[part]?.slice(start, end)
        ) : (
          <span class="quiet">{wholeOf(part, texts)}</span>
        )}
      </td>
      <td>{action}</td>
      <td>{view === 'text' ? 'as it is' : view}</td>
      <td class="number places">
        {isSpan ? `${texts.length > 1 ? `${part + 1}: ` : ''}${start} – ${end}` : '–'}
      </td>
    </tr>
  );
}

function wholeOf(part: number | null, texts: readonly string[]): string {
  if (part === null) return 'all parts';
  return texts.length > 1 ? `all of part ${part + 1}` : 'all of it';
}
