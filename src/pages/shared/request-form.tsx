import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { plural } from './format';
import type { FormState } from './request-state';

interface RequestFormProps {
  readonly form: FormState;
  /** Label of the submit button. */
  readonly verb: string;
  /** Label of the submit button while a request is in flight. */
  readonly busy: string;
  /** Size of the input, such as "3 lines". */
  readonly amount: string;
  readonly children: ComponentChildren;
  /** Content below the submit button. */
  readonly below?: ComponentChildren;
}

/** Form that sends a request on its button or Ctrl + Enter. */
export function RequestForm({ form, verb, busy, amount, children, below }: RequestFormProps) {
  const { canSubmit, isPending } = form;
  const submit = (event: Event): void => {
    event.preventDefault();
    form.submit().catch(reportError);
  };
  return (
    <form
      class="card"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
      }}
    >
      {children}
      <div class="row ends">
        <span class="quiet">
          {amount}
          <span class="wide-only"> · Ctrl + Enter: {verb.toLowerCase()}</span>
        </span>
        <button class="primary" type="submit" disabled={!canSubmit.value}>
          {isPending.value ? busy : verb}
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

/** @param rows visible lines */
export function TextArea({ rows, ...field }: FieldProps & { readonly rows: number }) {
  return (
    <div class="field">
      <label for={field.id}>{field.label}</label>
      <textarea {...inputProps(field)} rows={rows} />
    </div>
  );
}

/** Single-line text field. */
export function TextLine(field: FieldProps) {
  return (
    <div class="field">
      <label for={field.id}>{field.label}</label>
      <input type="text" {...inputProps(field)} />
    </div>
  );
}

function inputProps({ id, value, placeholder }: FieldProps) {
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
  readonly options: readonly (readonly [value: Value, text: string])[];
  readonly isDisabled?: boolean;
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { id, label, value, options, isDisabled = false } = props;
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
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

export function Checkbox(props: { readonly label: string; readonly value: Signal<boolean> }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={props.value.value}
        onChange={({ currentTarget }) => {
          props.value.value = currentTarget.checked;
        }}
      />
      {props.label}
    </label>
  );
}

interface ExamplesProps {
  readonly examples: readonly string[];
  readonly onChoose: (example: string) => void;
}

/** Example texts, one button each. */
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

/** Button that fills several fields with an example. */
export function ExampleButton(props: { readonly label: string; readonly onClick: () => void }) {
  return (
    <div class="row">
      <button type="button" class="small" onClick={props.onClick}>
        {props.label}
      </button>
    </div>
  );
}

/** Number of code points, such as "12 characters". */
export function characters(text: string): string {
  return plural([...text].length, 'character');
}
