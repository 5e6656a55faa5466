import { CutNote, ResultCard } from '../shared/answer-card';
import { percent } from '../shared/format';
import { ProbabilityBars } from '../shared/probability-bars';
import { TimeSpent } from '../shared/time-spent';
import { LinesTable } from './lines-table';
import { asked, mode, single, table } from './state';
import { toneOf } from './tones';

/** What came of it: for one text all classes, for many a table. */
export function Results() {
  const isText = mode.value === 'text';
  const shown = isText ? single.value : table.value;
  return (
    <ResultCard asked={asked} announcement={isText && announcement()}>
      {isText && <SingleResult />}
      {!isText && table.value && <LinesTable table={table.value} />}
      {!shown && !asked.problem.value && (
        <p class="quiet">
          {isText
            ? 'The label, the probability of each class and the time it took will be here.'
            : 'A table with a row for each line will be here. It can be downloaded as CSV.'}
        </p>
      )}
    </ResultCard>
  );
}

function announcement(): string | null {
  if (!single.value) return null;
  const { label, score, truncated } = single.value.analysis;
  return `${label}, ${score}${truncated ? ', the text was cut' : ''}`;
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
      <ProbabilityBars scores={Object.entries(probabilities)} top={label} toneOf={toneOf} />
      {truncated && <CutNote />}
      <TimeSpent timings={timings} />
    </div>
  );
}
