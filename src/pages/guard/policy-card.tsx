import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { downloadJson } from '../shared/download';
import { Scroller } from '../shared/table';
import { editedPolicy, isChanged } from './policy';

/** Policy with the thresholds of the sliders, to copy or download. */
export function PolicyCard() {
  const status = useSignal('');
  const code = useRef<HTMLElement>(null);
  if (!editedPolicy.value) return null;
  const json = `${JSON.stringify(editedPolicy.value, null, 2)}\n`;
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(json);
      status.value = 'Copied.';
    } catch {
      // Browsers allow clipboard access only over TLS or from localhost.
      getSelection()?.selectAllChildren(code.current as HTMLElement);
      status.value = 'Selected: press Ctrl + C.';
    }
  };
  return (
    <section class="card" aria-labelledby="file">
      <div class="row ends">
        <h2 id="file">Policy file</h2>
        <div class="row">
          <span role="status" class="quiet">
            {status.value}
          </span>
          <button type="button" class="small" onClick={copy}>
            Copy
          </button>
          <button type="button" class="small" onClick={() => downloadJson('guard.json', json)}>
            Download
          </button>
        </div>
      </div>
      <p class="quiet">
        {isChanged.value
          ? 'guard.json with the thresholds of the sliders.'
          : 'guard.json of the server, with all defaults.'}
      </p>
      <Scroller label="guard.json">
        <pre>
          <code ref={code}>{json}</code>
        </pre>
      </Scroller>
    </section>
  );
}
