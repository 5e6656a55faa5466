import { downloadCsv } from '../shared/download';
import { errorMessage } from '../shared/errors';
import { count, percent, plural, toCsv } from '../shared/format';
import { isReady } from '../shared/info';
import { ErrorNote } from '../shared/note';
import { RunProgress } from '../shared/run-progress';
import { ScoreBars } from '../shared/score-bars';
import {
  cancelRun,
  classifyAll,
  isRunning,
  type Prediction,
  type Run,
  run,
  runProblem,
} from './classify';
import { adjacentStarts, channel, rate, recording, timeline } from './state';
import { Strip } from './strip';
import { toneOf } from './tones';
import { meanProbabilities } from './windows';

/** Classification of all windows of the recording. */
export function RunCard() {
  const total = adjacentStarts.value.length;
  if (total === 0) return null;
  return (
    <section class="card" aria-labelledby="run" aria-busy={isRunning.value}>
      <div class="row ends">
        <h2 id="run">Whole recording</h2>
        <button
          type="button"
          class="primary"
          disabled={isRunning.value || !isReady.value}
          onClick={classifyAll}
        >
          Classify {plural(total, 'window')}
        </button>
      </div>
      <RunProgress
        done={run.value?.outcomes.length ?? 0}
        total={total}
        noun="window"
        isRunning={isRunning.value}
        onCancel={cancelRun}
      />
      {runProblem.value && (
        <div role="alert">
          <ErrorNote explanation={runProblem.value} onRetry={classifyAll} />
        </div>
      )}
      {run.value ? (
        <RunResult run={run.value} />
      ) : (
        <p class="quiet">
          The recording holds {plural(total, 'window')}, laid side by side
          {timeline.value?.gaps.length ? ' between its gaps' : ''}. Each is classified on its own,
          and the probabilities are averaged.
        </p>
      )}
    </section>
  );
}

function RunResult({ run: shown }: { readonly run: Run }) {
  const predictions = shown.outcomes.flatMap((outcome) => (outcome.ok ? [outcome.result] : []));
  const means = meanProbabilities(predictions.map(({ probabilities }) => probabilities));
  const [top] = Object.entries(means).sort(([, a], [, b]) => b - a);
  return (
    <>
      <Strip run={shown} />
      <Counts run={shown} predictions={predictions} />
      {top && (
        <div class="answer">
          <p class="verdict" role={isRunning.value ? undefined : 'status'}>
            <strong>{top[0]}</strong>
            <span class="quiet">
              {percent(top[1])}, mean of {plural(predictions.length, 'window')}
              {isRunning.value && ' so far'}
            </span>
          </p>
          <ScoreBars scores={Object.entries(means)} top={top[0]} toneOf={toneOf} />
        </div>
      )}
      <div class="row ends">
        <small>
          Paler windows are less certain. A demonstration: the mean says nothing about a person.
        </small>
        <button
          type="button"
          disabled={isRunning.value || shown.outcomes.length === 0}
          onClick={() => downloadCsv('eeg-windows.csv', runCsv(shown))}
        >
          Download CSV
        </button>
      </div>
    </>
  );
}

function Counts({
  run: { starts, outcomes },
  predictions,
}: {
  readonly run: Run;
  readonly predictions: readonly Prediction[];
}) {
  const counts = new Map<string, number>();
  for (const { diagnosis } of predictions) counts.set(diagnosis, (counts.get(diagnosis) ?? 0) + 1);
  const failed = outcomes.length - predictions.length;
  const isCut = !isRunning.value && outcomes.length < starts.length;
  return (
    <ul class="key" aria-label="Windows by class">
      {[...counts].map(([name, windows]) => (
        <li key={name}>
          <span class={`swatch tone-${toneOf(name)}`} aria-hidden="true" />
          {name}: {count(windows)}
        </li>
      ))}
      {failed > 0 && <li class="failed">{plural(failed, 'error')}</li>}
      {isCut && (
        <li>
          stopped after {count(outcomes.length)} of {plural(starts.length, 'window')}
        </li>
      )}
    </ul>
  );
}

/** CSV file with a row per classified window. */
function runCsv({ starts, outcomes }: Run): string {
  const names = [
    ...new Set(outcomes.flatMap((o) => (o.ok ? Object.keys(o.result.probabilities) : []))),
  ];
  const hz = rate.value;
  const axis = timeline.value;
  const [file, label] = [recording.value?.name ?? '', channel.value?.label ?? ''];
  const header = [
    'recording',
    'channel',
    'first_sample',
    'start_s',
    'diagnosis',
    'confidence',
    ...names,
    'error',
  ];
  const rows = outcomes.map((outcome, index) => {
    const at = starts[index] as number;
    const position = [
      file,
      label,
      at,
      hz === null || !axis ? null : Number(axis.toSeconds(at).toFixed(4)),
    ];
    if (!outcome.ok)
      return [...position, null, null, ...names.map(() => null), errorMessage(outcome.error)];
    const { diagnosis, confidence, probabilities } = outcome.result;
    return [
      ...position,
      diagnosis,
      confidence,
      ...names.map((name) => probabilities[name] ?? null),
      null,
    ];
  });
  return toCsv(header, rows);
}
