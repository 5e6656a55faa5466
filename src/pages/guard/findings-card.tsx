import { Scroller, TableHead } from '../shared/table';
import { currentResult, type Finding, guardRequest } from './guard-state';
import { toneOf } from './policy';

const COLUMNS = [
  { name: 'Finding', isNumber: true },
  { name: 'Check' },
  { name: 'Label' },
  { name: 'Score', isNumber: true },
  { name: 'Text' },
  { name: 'Action' },
  { name: 'Variant' },
  { name: 'Start – end', isNumber: true },
];

/** Maximum number of table rows. */
const MAX_ROWS = 500;

/** Table of all findings; hidden without findings. */
export function FindingsCard() {
  const texts = guardRequest.response.value?.input.texts ?? [];
  const findings = currentResult.value?.findings ?? [];
  if (findings.length === 0) return null;
  return (
    <section class="card" aria-labelledby="findings">
      <h2 id="findings">Findings</h2>
      <Scroller label="Table of findings">
        <table>
          <TableHead columns={COLUMNS} />
          <tbody>
            {findings.slice(0, MAX_ROWS).map((finding, index) => (
              <Row key={index} number={index + 1} finding={finding} texts={texts} />
            ))}
          </tbody>
        </table>
      </Scroller>
      <p class="quiet">
        {findings.length > MAX_ROWS && `First ${MAX_ROWS} of ${findings.length}. `}
        Offsets are in UTF-16 units: <code>text.slice(start, end)</code> in JavaScript.
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
  const { check, label, score, part, start, end, variant, action } = finding;
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
          <span class="quiet">{describeWhole(part, texts)}</span>
        )}
      </td>
      <td>{action}</td>
      <td>{variant === 'text' ? 'original' : variant}</td>
      <td class="number places">
        {isSpan ? `${texts.length > 1 ? `${part + 1}: ` : ''}${start} – ${end}` : '–'}
      </td>
    </tr>
  );
}

function describeWhole(part: number | null, texts: readonly string[]): string {
  if (part === null) return 'all parts';
  return texts.length > 1 ? `whole part ${part + 1}` : 'whole text';
}
