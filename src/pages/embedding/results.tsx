import { AnswerCard } from '../shared/answer-card';
import { percent, plural } from '../shared/format';
import { PointMap } from './map';
import { type Compared, chosen, embedding, nearest } from './state';

/** A map of the lines. */
export function Results() {
  return (
    <AnswerCard
      question={embedding}
      empty="A map of the lines, and how alike each two of them are, will be here."
      cut="A line was cut."
      announce={({ input, body: { dimensions } }) =>
        `${plural(input.lines.length, 'line')}, vectors of ${dimensions} numbers`
      }
    >
      {(answer) => {
        const { dimensions, kept } = answer.body;
        return (
          <section class="field" aria-labelledby="map">
            <h3 id="map">Map</h3>
            <PointMap answer={answer} />
            <Chosen answer={answer} />
            <p class="quiet">
              Principal components: this plane has {percent(kept)} of the variance of the vectors,
              of {dimensions} numbers each. Arrow keys go from line to line.
            </p>
          </section>
        );
      }}
    </AnswerCard>
  );
}

/** The line that is pointed out, and the one most like it. */
function Chosen({ answer }: { readonly answer: Compared }) {
  const { lines } = answer.input;
  const line = lines[chosen.value];
  const other = nearest(answer, chosen.value);
  if (!line) return null;
  return (
    <p class="chosen-line wrap">
      <strong>{line.number}</strong> <span dir="auto">{line.text}</span>
      {other !== null && (
        <span class="quiet">
          {' '}
          Most alike: line {lines[other]?.number} (
          {answer.body.similarities[chosen.value]?.[other]?.toFixed(4)})
        </span>
      )}
    </p>
  );
}
