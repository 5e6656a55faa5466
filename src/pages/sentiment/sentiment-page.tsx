import { DecisionsLink } from '../shared/decisions-link';
import { percent, plural } from '../shared/format';
import { startTaskPage } from '../shared/page';
import { characters, ExampleButton, Examples, RequestForm, TextArea } from '../shared/request-form';
import { ResultCard, TruncationNote } from '../shared/result-card';
import { ScoreBars } from '../shared/score-bars';
import { TimingBreakdown } from '../shared/timing-breakdown';
import { LinesTable } from './lines-table';
import {
  form,
  isRunning,
  lines,
  list,
  type Mode,
  mode,
  single,
  table,
  text,
  toneOf,
} from './sentiment-state';

const MODES: readonly { readonly value: Mode; readonly label: string }[] = [
  { value: 'text', label: 'One text' },
  { value: 'lines', label: 'One text per line' },
];
const EXAMPLES: readonly string[] = [
  'A warm, funny film that never outstays its welcome.',
  "It isn't bad at all, which is more than I expected.",
  'Two hours of my life that I will never get back.',
  'The cast is wonderful. The script, sadly, is not.',
];
const EXAMPLE_LINES = [
  ...EXAMPLES,
  'Beautifully shot, and completely hollow.',
  'I laughed, I cried, I bought the soundtrack.',
  'Not for everyone, but it was for me.',
  'The trailer was better.',
].join('\n');

function Composer() {
  const isList = mode.value === 'lines';
  return (
    <RequestForm
      form={form}
      verb="Analyze"
      busy="Analyzing…"
      amount={isList ? plural(lines.value.length, 'line') : characters(text.value)}
      below={
        isList ? (
          <ExampleButton
            label="Insert example texts"
            onClick={() => {
              list.value = EXAMPLE_LINES;
            }}
          />
        ) : (
          <Examples
            examples={EXAMPLES}
            onChoose={(example) => {
              text.value = example;
              form.submit().catch(reportError);
            }}
          />
        )
      }
    >
      <ModeChoice />
      <TextArea
        id="text"
        label={isList ? 'Texts, one per line' : 'Text'}
        rows={isList ? 10 : 5}
        placeholder={isList ? 'Paste a list here' : 'Type or paste a sentence'}
        value={isList ? list : text}
      />
    </RequestForm>
  );
}

function ModeChoice() {
  return (
    <fieldset>
      <legend class="visually-hidden">Input mode</legend>
      <div class="segments">
        {MODES.map(({ value, label }) => (
          <label key={value}>
            <input
              type="radio"
              name="mode"
              value={value}
              checked={mode.value === value}
              disabled={isRunning.value}
              onChange={() => {
                mode.value = value;
              }}
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Scores of all labels for one text, or a table for several texts. */
function Results() {
  const isText = mode.value === 'text';
  const shown = isText ? single.value : table.value;
  return (
    <ResultCard form={form} announcement={isText && announcement()}>
      {isText && <SingleResult />}
      {!isText && table.value && <LinesTable table={table.value} />}
      {!shown && !form.problem.value && (
        <p class="quiet">
          {isText
            ? 'The label, the probability of each label and the latency.'
            : 'A table with one row per line, which you can download as CSV.'}
        </p>
      )}
    </ResultCard>
  );
}

function announcement(): string | null {
  if (!single.value) return null;
  const { label, score, truncated } = single.value.analysis;
  return `${label}, ${score}${truncated ? ', the text was truncated' : ''}`;
}

function SingleResult() {
  if (!single.value) return null;
  const { analysis, timings } = single.value;
  const { label, score, probabilities, truncated } = analysis;
  return (
    <div class="answer">
      <p class="verdict">
        <strong>{label}</strong>
        <span class="quiet">{score >= 0 && score <= 1 ? percent(score) : score}</span>
      </p>
      <ScoreBars scores={Object.entries(probabilities)} top={label} toneOf={toneOf} />
      {truncated && <TruncationNote />}
      <TimingBreakdown timings={timings} />
    </div>
  );
}

startTaskPage('Sentiment', Composer, Results, DecisionsLink);
