import { AnswerCard } from '../shared/answer-card';
import { plural } from '../shared/format';
import { MarkedText } from '../shared/marked-text';
import { Scroller } from '../shared/scroller';
import { TableHead } from '../shared/table-head';
import { type Tag, tagging } from './state';
import { toneOf } from './tones';

const COLUMNS = [
  { name: 'Span', isNumber: true },
  { name: 'Text' },
  { name: 'Label' },
  { name: 'Score', isNumber: true },
  { name: 'From – to', isNumber: true },
];

/** More rows make a page slow. */
const ROWS_SHOWN = 500;

/** The text with its spans, and a table of them. */
export function Results() {
  return (
    <AnswerCard
      question={tagging}
      empty="The text with its spans, and a table with the score and the place of each, will be here."
      announce={({ body: { tags } }) => plural(tags.length, 'span')}
    >
      {({ input, body: { tags } }) => (
        <>
          <Legend tags={tags} />
          <MarkedText
            name="Text with its spans"
            text={input.text}
            marks={tags.map((tag) => ({ ...tag, tone: toneOf(tag.label) }))}
          />
          {tags.length > 0 && <SpanTable text={input.text} tags={tags} />}
        </>
      )}
    </AnswerCard>
  );
}

function Legend({ tags }: { readonly tags: readonly Tag[] }) {
  if (tags.length === 0) return <p>No part of this text has a label.</p>;
  const counts = new Map<string, number>();
  for (const { label } of tags) counts.set(label, (counts.get(label) ?? 0) + 1);
  return (
    <ul class="key" aria-label="Labels">
      {[...counts].map(([label, number]) => (
        <li key={label}>
          <span class={`swatch ${toneOf(label)}`} aria-hidden="true" />
          {label}: {plural(number, 'span')}
        </li>
      ))}
    </ul>
  );
}

interface TextWithTags {
  readonly text: string;
  readonly tags: readonly Tag[];
}

function SpanTable({ text, tags }: TextWithTags) {
  return (
    <>
      <Scroller label="Spans">
        <table>
          <TableHead columns={COLUMNS} />
          <tbody>
            {tags.slice(0, ROWS_SHOWN).map((tag, index) => (
              <tr key={index}>
                <td class="number quiet">{index + 1}</td>
                <td class="wrap">
                  {text.slice(tag.start, tag.end)}
                  <WordNote tag={tag} text={text} />
                </td>
                <td>
                  <span class="labelled">
                    <span class={`swatch ${toneOf(tag.label)}`} aria-hidden="true" />
                    {tag.label}
                  </span>
                </td>
                <td class="number">{tag.score.toFixed(4)}</td>
                <td class="number places">
                  {tag.start} – {tag.end}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
      <p class="quiet">
        {tags.length > ROWS_SHOWN && `The first ${ROWS_SHOWN} of ${tags.length} are shown. `}
        Places count UTF-16 units, as <code>text.slice(from, to)</code> in JavaScript.
      </p>
    </>
  );
}

/** What the tokenizer made of the characters, where that is something else. */
function WordNote({ tag, text }: { readonly tag: Tag; readonly text: string }) {
  if (tag.word === text.slice(tag.start, tag.end)) return null;
  return <div class="quiet">read as {tag.word}</div>;
}
