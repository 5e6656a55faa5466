import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { downloadJson } from '../shared/download';
import { Scroller } from '../shared/scroller';
import { chosenFile, isMoved } from './thresholds';

/** The guard's file with the thresholds of the sliders, to take along. */
export function FileCard() {
  const said = useSignal('');
  const code = useRef<HTMLElement>(null);
  if (!chosenFile.value) return null;
  const json = `${JSON.stringify(chosenFile.value, null, 2)}\n`;
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(json);
      said.value = 'Copied.';
    } catch {
      // Only pages over TLS, or of this machine, may write there.
      getSelection()?.selectAllChildren(code.current as HTMLElement);
      said.value = 'Selected: press Ctrl + C.';
    }
  };
  return (
    <section class="card" aria-labelledby="file">
      <div class="row ends">
        <h2 id="file">The file</h2>
        <div class="row">
          <span role="status" class="quiet">
            {said.value}
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
        {isMoved.value
          ? 'guard.json with the thresholds of the sliders.'
          : 'guard.json as the service has it, with all defaults.'}
      </p>
      <Scroller label="guard.json">
        <pre>
          <code ref={code}>{json}</code>
        </pre>
      </Scroller>
    </section>
  );
}
