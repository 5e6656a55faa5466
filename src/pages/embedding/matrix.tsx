import { Scroller } from '../shared/scroller';
import { type Compared, chosen, embedding, nearest } from './state';

/** Of the accent colour, in the darkest cell, in percent: text on it stays readable. */
const DARKEST = 45;

/** How alike each two lines are. */
export function MatrixCard() {
  const answer = embedding.answer.value;
  if (!answer || answer.input.lines.length < 2) return null;
  return (
    <section class="card" aria-labelledby="matrix">
      <h2 id="matrix">Similarity ({answer.body.measure})</h2>
      <Matrix answer={answer} />
      <p class="quiet">
        The stronger the colour, the more alike among these lines; bold: the most alike of a row.
      </p>
    </section>
  );
}

function Matrix({ answer }: { readonly answer: Compared }) {
  const { lines } = answer.input;
  return (
    <Scroller label="Similarity of each two lines">
      <table class="matrix">
        <thead>
          <tr>
            <th scope="col">Line</th>
            {lines.map(({ number, text }) => (
              <th key={number} scope="col" class="number" aria-label={`${number}: ${text}`}>
                {number}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ number, text }, row) => (
            <tr key={number} class={row === chosen.value ? 'chosen' : ''}>
              <th scope="row" title={text}>
                {number}
                <span class="wide-only text" dir="auto">
                  {text}
                </span>
              </th>
              <Cells answer={answer} row={row} />
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

function Cells({ answer, row }: { readonly answer: Compared; readonly row: number }) {
  const { similarities, lowest, highest } = answer.body;
  const best = nearest(answer, row);
  return (
    <>
      {similarities[row]?.map((value, column) => {
        const share = highest > lowest ? (value - lowest) / (highest - lowest) : 0;
        const isSame = column === row;
        return (
          <td
            key={column}
            class={`number ${isSame ? 'quiet' : ''} ${column === best ? 'best' : ''}`}
            style={isSame ? {} : { '--share': `${share * DARKEST}%` }}
          >
            {value.toFixed(2)}
          </td>
        );
      })}
    </>
  );
}
