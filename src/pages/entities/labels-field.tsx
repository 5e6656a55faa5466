import {
  commitPendingLabel,
  LABEL_INPUT,
  labelFocus,
  labels,
  pendingLabel,
  removeButtonId,
  removeLabel,
  removeLastLabel,
} from './labels';

const { Announcer, useFocus } = labelFocus;

/** Labels as chips, and a text field that adds labels. */
export function LabelsField() {
  useFocus();
  return (
    <div class="field">
      <label for={LABEL_INPUT}>Labels to find</label>
      {labels.value.length > 0 && (
        <ul class="chips" aria-label="Labels to find">
          {labels.value.map((label, index) => (
            <li key={label} class="chip">
              <span class="wrap">{label}</span>
              <button
                type="button"
                id={removeButtonId(index)}
                aria-label={`Remove label ${label}`}
                title="Remove"
                onClick={() => removeLabel(label)}
              >
                <span aria-hidden="true">×</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="label-line">
        <input
          id={LABEL_INPUT}
          type="text"
          autocomplete="off"
          placeholder="For example person, invoice number"
          aria-describedby="label-help"
          value={pendingLabel.value}
          onInput={({ currentTarget }) => typeLabel(currentTarget.value)}
          onPaste={pasteLabels}
          onKeyDown={handleKey}
        />
        <button
          type="button"
          disabled={pendingLabel.value.trim() === ''}
          onClick={commitPendingLabel}
        >
          Add
        </button>
      </div>
      <small id="label-help">
        Enter or comma adds a label. Backspace in the empty field removes the last label.
      </small>
      <Announcer />
    </div>
  );
}

function typeLabel(text: string): void {
  pendingLabel.value = text;
  if (text.includes(',')) commitPendingLabel();
}

/** Adds each line of a pasted list: a text field would join the lines. */
function pasteLabels(event: ClipboardEvent): void {
  const text = event.clipboardData?.getData('text') ?? '';
  if (!/[\r\n]/.test(text)) return;
  event.preventDefault();
  pendingLabel.value += text;
  commitPendingLabel();
}

function handleKey(event: KeyboardEvent): void {
  if (event.isComposing) return; // Enter ends the composition of an input method
  const isPlainEnter = event.key === 'Enter' && !event.ctrlKey && !event.metaKey;
  if (isPlainEnter) {
    event.preventDefault(); // would submit the form
    commitPendingLabel();
  }
  if (event.key === 'Backspace' && pendingLabel.value === '') removeLastLabel();
}
