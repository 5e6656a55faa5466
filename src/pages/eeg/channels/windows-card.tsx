import { downloadCsv } from '../../shared/download';
import { clock, count, percent, plural, toCsv } from '../../shared/format';
import { isReady } from '../../shared/info';
import { ErrorNote } from '../../shared/note';
import { Select } from '../../shared/request-form';
import { RunProgress } from '../../shared/run-progress';
import { ScoreBars } from '../../shared/score-bars';
import { model, recording } from '../state';
import { toneOf } from '../tones';
import type { ClassifiedWindow } from './classified-window';
import {
  cancelRun,
  classifyRecording,
  isRunning,
  method,
  type Run,
  run,
  runProblem,
  windowAtCursor,
} from './run-windows';
import { selection } from './selection';
import { moveCursor } from './view-state';

const METHODS = [
  ['stream', 'as a stream'],
  ['alone', 'each window alone'],
] as const;

/** Classification of the windows of the recording. */
export function WindowsCard() {
  if (selection.value === null) return null;
  const shown = run.value;
  return (
    <section class="card" aria-labelledby="run" aria-busy={isRunning.value}>
      <div class="row ends">
        <h2 id="run">Windows</h2>
        <button
          type="button"
          class="primary"
          disabled={isRunning.value || !isReady.value}
          onClick={classifyRecording}
        >
          Classify the recording
        </button>
      </div>
      <div class="fields">
        <Select
          id="method"
          label="Send windows"
          value={method}
          options={METHODS}
          isDisabled={isRunning.value}
        />
      </div>
      <p class="quiet">
        {method.value === 'stream'
          ? 'Filters of the model keep their state from window to window, as for a recording. A model with a zero-phase filter takes no streams.'
          : 'Filters of the model start with each window: the probabilities differ from those of a recording.'}
      </p>
      <RunProgress
        done={shown?.windows.length ?? 0}
        total={Math.max(shown?.total ?? 0, shown?.windows.length ?? 0)}
        noun="window"
        isRunning={isRunning.value}
        onCancel={cancelRun}
      />
      {runProblem.value && (
        <div role="alert">
          <ErrorNote explanation={runProblem.value} onRetry={classifyRecording} />
        </div>
      )}
      {shown && <Counts run={shown} />}
      {shown && shown.windows.length > 0 && <WindowAtCursor run={shown} />}
    </section>
  );
}

function Counts({ run: { windows, interpolated } }: { readonly run: Run }) {
  const classes = new Map<string, number>();
  for (const { diagnosis } of windows) {
    const name = diagnosis ?? 'no prediction';
    classes.set(name, (classes.get(name) ?? 0) + 1);
  }
  return (
    <>
      <p class="quiet" role={isRunning.value ? undefined : 'status'}>
        Classified: {plural(windows.length, 'window')}.
        {interpolated.length > 0 && ` Interpolated: ${interpolated.join(', ')}.`}
      </p>
      <ul class="key" aria-label="Windows by class">
        {[...classes].map(([name, number]) => (
          <li key={name}>
            <span class={`swatch tone-${toneOf(name)}`} aria-hidden="true" />
            {name}: {count(number)}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Probabilities of the window that the cursor selects. */
function WindowAtCursor({ run: shown }: { readonly run: Run }) {
  const index = windowAtCursor.value;
  const window = index === null ? null : shown.windows[index];
  return (
    <section class="answer" aria-labelledby="at-cursor">
      <div class="row ends">
        <h3 id="at-cursor">Window at the cursor</h3>
        <div class="row tight">
          <StepButton run={shown} index={index} direction={-1} />
          <StepButton run={shown} index={index} direction={1} />
        </div>
      </div>
      <div role="status">
        {window ? <Verdict window={window} /> : <p class="quiet">No classified window.</p>}
      </div>
      {window?.probabilities && window.diagnosis !== null && (
        <ScoreBars
          scores={Object.entries(window.probabilities)}
          top={window.diagnosis}
          toneOf={toneOf}
        />
      )}
      <div class="row ends">
        <small>Paler windows are less certain.</small>
        <button
          type="button"
          disabled={isRunning.value}
          onClick={() => downloadCsv('eeg-windows.csv', runCsv(shown))}
        >
          Download CSV
        </button>
      </div>
    </section>
  );
}

function Verdict({ window }: { readonly window: ClassifiedWindow }) {
  const { diagnosis, confidence, error, from, to } = window;
  return (
    <p class="verdict">
      <strong>{diagnosis ?? error ?? 'no prediction'}</strong>
      <span class="quiet">
        {diagnosis !== null && `${percent(confidence ?? 0)}, `}
        {clock(from)} to {clock(to)}
      </span>
    </p>
  );
}

interface StepButtonProps {
  readonly run: Run;
  readonly index: number | null;
  readonly direction: 1 | -1;
}

/** Moves the cursor to the previous or next window. */
function StepButton({ run: { windows }, index, direction }: StepButtonProps) {
  const next = windows[index === null ? 0 : index + direction];
  return (
    <button
      type="button"
      class="small"
      disabled={!next}
      onClick={() => next && moveCursor(next.from)}
    >
      {direction === 1 ? 'Next' : 'Previous'}
    </button>
  );
}

/** CSV file with a row per window. */
function runCsv({ windows }: Run): string {
  const classes = model.value?.classes ?? [];
  const header = ['recording', 'start_s', 'diagnosis', 'confidence', ...classes, 'error'];
  const rows = windows.map(({ from, diagnosis, confidence, probabilities, error }) => [
    recording.value?.name ?? '',
    Number(from.toFixed(4)),
    diagnosis,
    confidence,
    ...classes.map((name) => probabilities?.[name] ?? null),
    error ?? null,
  ]);
  return toCsv(header, rows);
}
