import { plural } from '../shared/format';
import { EXAMPLE_LINES, EXAMPLES } from './examples';
import { analyze, input, isReady, isRunning, lines, list, type Mode, mode, text } from './state';

const MODES: readonly { readonly value: Mode; readonly label: string }[] = [
  { value: 'text', label: 'One text' },
  { value: 'lines', label: 'One per line' },
];

/** Where the text goes in. */
export function Composer() {
  const isEmpty = input.value.value.trim() === '';
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        void analyze();
      }}
    >
      <ModeChoice />
      <TextField />
      <div class="row ends">
        <span class="quiet">
          {mode.value === 'lines'
            ? plural(lines.value.length, 'line')
            : plural([...text.value].length, 'character')}
          <span class="wide-only"> · Ctrl + Enter analyzes</span>
        </span>
        <button
          class="primary"
          type="submit"
          disabled={isEmpty || isRunning.value || !isReady.value}
        >
          {isRunning.value ? 'Analyzing…' : 'Analyze'}
        </button>
      </div>
      <Examples />
    </form>
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

function TextField() {
  const isList = mode.value === 'lines';
  return (
    <div class="field">
      <label for="text">{isList ? 'Texts, one on each line' : 'Text'}</label>
      <textarea
        id="text"
        rows={isList ? 10 : 5}
        placeholder={isList ? 'Paste a list here' : 'Type or paste a sentence'}
        value={input.value.value}
        onInput={(event) => {
          input.value.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void analyze();
        }}
      />
    </div>
  );
}

function Examples() {
  if (mode.value === 'lines') {
    return (
      <div class="row">
        <button type="button" class="small" onClick={() => fill('lines', EXAMPLE_LINES)}>
          Fill in an example list
        </button>
      </div>
    );
  }
  return (
    <section class="field" aria-labelledby="examples">
      <h2 class="minor" id="examples">
        Examples
      </h2>
      <ul class="examples">
        {EXAMPLES.map((example) => (
          <li key={example}>
            <button type="button" class="small" onClick={() => fill('text', example)}>
              {example}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function fill(into: Mode, value: string): void {
  if (into === 'lines') {
    list.value = value;
    return;
  }
  text.value = value;
  void analyze();
}
