import { percent } from '../shared/format';
import { info } from '../shared/info';
import { ErrorNote, Note } from '../shared/note';
import { ProbabilityBars } from '../shared/probability-bars';
import { TimeSpent } from '../shared/time-spent';
import { LinesTable } from './lines-table';
import { analyze, isRunning, mode, problem, single, table } from './state';
import { toneOf } from './tones';

/** What came of it: for one text all classes, for many a table. */
export function Results() {
  const shown = mode.value === 'text' ? single.value : table.value;
  return (
    <section class="card" aria-labelledby="results" aria-busy={isRunning.value}>
      <h2 id="results">Result</h2>
      <div role="status" class="status-region">
        {problem.value && <ErrorNote explanation={problem.value} onRetry={analyze} />}
        {mode.value === 'text' && <Announcement />}
      </div>
      {mode.value === 'text' && <SingleResult />}
      {mode.value === 'lines' && table.value && <LinesTable table={table.value} />}
      {!shown && !problem.value && (
        <p class="quiet">
          {mode.value === 'text'
            ? 'The label, the probability of each class and the time it took will be here.'
            : 'A table with a row for each line will be here. It can be downloaded as CSV.'}
        </p>
      )}
    </section>
  );
}

/** For screen readers: the answer in short. */
function Announcement() {
  if (!single.value) return null;
  const { label, score, truncated } = single.value.analysis;
  return (
    <span class="visually-hidden">
      {label}, {score}
      {truncated && ', the text was cut'}
    </span>
  );
}

function SingleResult() {
  if (!single.value) return null;
  const { analysis, timings } = single.value;
  const { label, score, probabilities, truncated } = analysis;
  return (
    <div class="answer">
      <p class="verdict">
        <strong>{label}</strong>
        <span class="quiet">{score >= 0 && score <= 1 ? percent(score) : score}</span>
      </p>
      <ProbabilityBars probabilities={probabilities} top={label} toneOf={toneOf} />
      {truncated && (
        <Note tone="warn" title="The text was cut.">
          The model reads at most {info.value?.model.max_length ?? 'so many'} tokens; what is beyond
          them played no part in this answer.
        </Note>
      )}
      <TimeSpent timings={timings} />
    </div>
  );
}
