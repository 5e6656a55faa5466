import { useSignal } from '@preact/signals';
import { loadInfo } from './info';
import { isKey, key, useKey } from './key';

/** Asks for the key that the service wants. */
export function KeyForm() {
  const entered = useSignal('');
  const isRefused = key.value !== null;
  return (
    <form
      class="note warn"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isKey(entered.value.trim())) return;
        useKey(entered.value.trim());
        loadInfo().catch(reportError);
      }}
    >
      <strong>
        {isRefused ? 'The service does not know this key.' : 'This service wants an API key.'}
      </strong>
      <div class="field">
        <label for="key">API key</label>
        <div class="row">
          <input
            id="key"
            class="key-field"
            type="password"
            autocomplete="off"
            spellcheck={false}
            aria-describedby="key-hint"
            value={entered.value}
            onInput={(event) => {
              entered.value = event.currentTarget.value;
            }}
          />
          <button class="primary" type="submit" disabled={!isKey(entered.value.trim())}>
            Use it
          </button>
        </div>
        <span id="key-hint" class="quiet">
          Whoever runs the service gives keys out. Yours is kept in this tab until you close it.
        </span>
      </div>
    </form>
  );
}
