import { useSignal } from '@preact/signals';
import { isKey, key, useKey } from './api-key';
import { loadInfo } from './info';

/** Form for the API key, shown after a response with status 401. */
export function KeyForm() {
  const entered = useSignal('');
  const isRejected = key.value !== null;
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
        {isRejected ? 'The server rejected this API key.' : 'This server requires an API key.'}
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
            Save
          </button>
        </div>
        <span id="key-hint" class="quiet">
          The operator of the server issues API keys. Your key is kept until you close this tab.
        </span>
      </div>
    </form>
  );
}
