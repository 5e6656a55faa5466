import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { plural } from './format';
import type { Asked } from './question';

interface AskFormProps {
  readonly asked: Asked;
  /** On the button: "Analyze", and "Analyzing…" for as long as that takes. */
  readonly verb: string;
  readonly busy: string;
  /** How much there is to ask: "3 lines". */
  readonly amount: string;
  readonly children: ComponentChildren;
  /** Below the button. */
  readonly below?: ComponentChildren;
}

/** Where goes in what the model is asked. */
export function AskForm({ asked, verb, busy, amount, children, below }: AskFormProps) {
  const { canAsk, isAsking, ask } = asked;
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        ask().catch(reportError);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        ask().catch(reportError);
      }}
    >
      {children}
      <div class="row ends">
        <span class="quiet">
          {amount}
          <span class="wide-only"> · Ctrl + Enter: {verb.toLowerCase()}</span>
        </span>
        <button class="primary" type="submit" disabled={!canAsk.value}>
          {isAsking.value ? busy : verb}
        </button>
      </div>
      {below}
    </form>
  );
}

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: Signal<string>;
  readonly placeholder?: string;
}

/** @param rows lines that are seen at once */
export function TextArea({ rows, ...field }: FieldProps & { readonly rows: number }) {
  return (
    <div class="field">
      <label for={field.id}>{field.label}</label>
      <textarea {...inputOf(field)} rows={rows} />
    </div>
  );
}

/** A text of one line. */
export function TextLine(field: FieldProps) {
  return (
    <div class="field">
      <label for={field.id}>{field.label}</label>
      <input type="text" {...inputOf(field)} />
    </div>
  );
}

function inputOf({ id, value, placeholder }: FieldProps) {
  return {
    id,
    ...(placeholder !== undefined && { placeholder }),
    value: value.value,
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => {
      value.value = currentTarget.value;
    },
  };
}

interface SelectProps<Value extends string> {
  readonly id: string;
  readonly label: string;
  readonly value: Signal<Value>;
  readonly options: readonly (readonly [value: Value, words: string])[];
  readonly isDisabled?: boolean;
}

export function Select<Value extends string>({
  id,
  label,
  value,
  options,
  isDisabled = false,
}: SelectProps<Value>) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value.value}
        disabled={isDisabled}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.value as Value;
        }}
      >
        {options.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

interface CheckProps {
  readonly label: string;
  readonly value: Signal<boolean>;
}

/** What is on or off. */
export function Check({ label, value }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={value.value}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.checked;
        }}
      />
      {label}
    </label>
  );
}

interface ExamplesProps {
  readonly examples: readonly string[];
  readonly onChoose: (example: string) => void;
}

/** Texts to try. */
export function Examples({ examples, onChoose }: ExamplesProps) {
  return (
    <section class="field" aria-labelledby="examples">
      <h2 class="minor" id="examples">
        Examples
      </h2>
      <ul class="examples">
        {examples.map((example) => (
          <li key={example}>
            <button type="button" class="small" onClick={() => onChoose(example)}>
              {example}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface FillInProps {
  readonly label: string;
  readonly onClick: () => void;
}

/** For an example of several fields. */
export function FillIn({ label, onClick }: FillInProps) {
  return (
    <div class="row">
      <button type="button" class="small" onClick={onClick}>
        {label}
      </button>
    </div>
  );
}

/** How long a text is. */
export function characters(text: string): string {
  return plural([...text].length, 'character');
}
