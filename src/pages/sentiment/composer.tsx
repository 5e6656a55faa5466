import { AskForm, characters, Examples, FillIn, TextArea } from '../shared/ask-form';
import { plural } from '../shared/format';
import { EXAMPLE_LINES, EXAMPLES } from './examples';
import { asked, isRunning, lines, list, type Mode, mode, text } from './state';

const MODES: readonly { readonly value: Mode; readonly label: string }[] = [
  { value: 'text', label: 'One text' },
  { value: 'lines', label: 'One per line' },
];

/** Where the text goes in. */
export function Composer() {
  const isList = mode.value === 'lines';
  return (
    <AskForm
      asked={asked}
      verb="Analyze"
      busy="Analyzing…"
      amount={isList ? plural(lines.value.length, 'line') : characters(text.value)}
      below={
        isList ? (
          <FillIn
            label="Fill in an example list"
            onClick={() => {
              list.value = EXAMPLE_LINES;
            }}
          />
        ) : (
          <Examples examples={EXAMPLES} onChoose={analyze} />
        )
      }
    >
      <ModeChoice />
      {isList ? (
        <TextArea
          id="text"
          label="Texts, one on each line"
          rows={10}
          placeholder="Paste a list here"
          value={list}
        />
      ) : (
        <TextArea
          id="text"
          label="Text"
          rows={5}
          placeholder="Type or paste a sentence"
          value={text}
        />
      )}
    </AskForm>
  );
}

function ModeChoice() {
  return (
    <fieldset>
      <legend class="visually-hidden">What to analyze</legend>
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

function analyze(example: string): void {
  text.value = example;
  asked.ask().catch(reportError);
}
