import { percent, plural } from '../shared/format';
import { info } from '../shared/info';
import { startTaskPage } from '../shared/page';
import { ExampleButton, RequestForm, Select, TextArea } from '../shared/request-form';
import { RequestResultCard } from '../shared/result-card';
import { Scroller } from '../shared/table';
import {
  type Comparison,
  embedding,
  lines,
  list,
  MAX_LINES,
  nearest,
  promptName,
  selected,
} from './embedding-state';
import { PointMap } from './point-map';
import './embedding.css';

const EXAMPLE = [
  'The film was a delight from start to finish.',
  'I enjoyed every minute of this movie.',
  'Two hours of my life that I will never get back.',
  'It rains in the mountains until Thursday.',
  'Tomorrow will be sunny and dry.',
  'How do I bake bread without yeast?',
  'A recipe for soda bread.',
  'Les acteurs sont merveilleux.',
  'The train to Warsaw is late again.',
];
/** Share of the accent color in the cell with the highest similarity, in percent. Text on it stays readable. */
const MAX_SHADE = 45;

function Composer() {
  const prompts = info.value?.model.prompts ?? [];
  const amount = plural(lines.value.length, 'line');
  return (
    <RequestForm
      form={embedding}
      verb="Compare"
      busy="Comparing…"
      amount={lines.value.length > MAX_LINES ? `${amount}; first ${MAX_LINES} used` : amount}
      below={
        <ExampleButton
          label="Compare an example"
          onClick={() => {
            list.value = EXAMPLE.join('\n');
            embedding.submit().catch(reportError);
          }}
        />
      }
    >
      <TextArea
        id="lines"
        label="Texts, one per line"
        rows={9}
        placeholder="Paste a list here"
        value={list}
      />
      {prompts.length > 0 && (
        <Select
          id="prompt"
          label="Prompt before each text"
          value={promptName}
          options={[['', 'default of the model'], ...prompts.map((name) => [name, name] as const)]}
        />
      )}
    </RequestForm>
  );
}

function Results() {
  return (
    <RequestResultCard
      request={embedding}
      empty="A map of the texts and their pairwise similarity."
      truncation="At least one text was truncated."
      announce={({ input, body: { dimensions } }) =>
        `${plural(input.lines.length, 'text')}, embeddings with ${dimensions} dimensions`
      }
    >
      {(response) => {
        const { dimensions, kept } = response.body;
        return (
          <section class="field" aria-labelledby="map">
            <h3 id="map">Map</h3>
            <PointMap response={response} />
            <SelectedLine response={response} />
            <p class="quiet">
              Principal components: this plane explains {percent(kept)} of the variance of the
              embeddings ({dimensions} dimensions). The arrow keys select the next text.
            </p>
          </section>
        );
      }}
    </RequestResultCard>
  );
}

/** Selected text and the text with the highest similarity to it. */
function SelectedLine({ response }: { readonly response: Comparison }) {
  const { lines } = response.input;
  const line = lines[selected.value];
  const other = nearest(response, selected.value);
  if (!line) return null;
  return (
    <p class="chosen-line wrap">
      <strong>{line.number}</strong> <span dir="auto">{line.text}</span>
      {other !== null && (
        <span class="quiet">
          {' '}
          Most similar: line {lines[other]?.number} (
          {response.body.similarities[selected.value]?.[other]?.toFixed(4)})
        </span>
      )}
    </p>
  );
}

/** Similarity matrix of all texts. */
function MatrixCard() {
  const response = embedding.response.value;
  if (!response || response.input.lines.length < 2) return null;
  const { lines } = response.input;
  return (
    <section class="card" aria-labelledby="matrix">
      <h2 id="matrix">Similarity ({response.body.measure})</h2>
      <Scroller label="Similarity matrix">
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
              <tr key={number} class={row === selected.value ? 'chosen' : ''}>
                <th scope="row" title={text}>
                  {number}
                  <span class="wide-only text" dir="auto">
                    {text}
                  </span>
                </th>
                <Cells response={response} row={row} />
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
      <p class="quiet">
        Darker cells have a higher similarity. Bold: highest similarity of the row.
      </p>
    </section>
  );
}

function Cells({ response, row }: { readonly response: Comparison; readonly row: number }) {
  const { similarities, lowest, highest } = response.body;
  const best = nearest(response, row);
  return (
    <>
      {similarities[row]?.map((value, column) => {
        const share = highest > lowest ? (value - lowest) / (highest - lowest) : 0;
        const isDiagonal = column === row;
        return (
          <td
            key={column}
            class={`number ${isDiagonal ? 'quiet' : ''} ${column === best ? 'best' : ''}`}
            style={isDiagonal ? {} : { '--share': `${share * MAX_SHADE}%` }}
          >
            {value.toFixed(2)}
          </td>
        );
      })}
    </>
  );
}

startTaskPage('Embedding', Composer, Results, MatrixCard);
