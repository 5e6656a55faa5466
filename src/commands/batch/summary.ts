import type { JobTotals, RecordingTotals } from '../../files/journal/journal';
import { formatCount, formatDuration } from '../../files/progress';
import { roundToFourDecimals } from '../../lib/numbers';
import type { BatchJob, RowTask } from './job';

export type Summary = ReturnType<typeof summarize>;

/** @param inputs number of input files */
export function summarize(
  { service, notice, options }: Pick<BatchJob, 'service' | 'notice' | 'options'>,
  { model, labels }: Pick<RowTask, 'model' | 'labels'>,
  inputs: number,
  outcome: JobTotals,
) {
  const { answered, rejected, truncated, seconds } = outcome;
  return {
    service,
    ...(notice !== null && { notice }),
    model: { name: model.metadata.name, version: model.metadata.version },
    inputs,
    output: options.output,
    /** null: no rejected rows. */
    rejects: rejected > 0 ? options.rejects : null,
    rows: answered + rejected,
    answered,
    rejected,
    /** Number of truncated texts. */
    truncated,
    /** Number of predictions or entities by label, including labels with 0. */
    labels: { ...Object.fromEntries(labels.map((label) => [label, 0])), ...outcome.labels },
    ...(Object.keys(outcome.recordings).length > 0 && {
      recordings: Object.entries(outcome.recordings).map(describeRecording),
    }),
    seconds: Number(seconds.toFixed(3)),
  };
}

function describeRecording([file, totals]: readonly [string, RecordingTotals]) {
  const { windows, labels, scores, compared, agreed } = totals;
  const byLabel = (values: Readonly<Record<string, number>>) =>
    Object.fromEntries(
      Object.keys(scores).map((label) => [
        label,
        roundToFourDecimals((values[label] ?? 0) / windows),
      ]),
    );
  return {
    file,
    windows,
    /** Share of the windows by class. */
    shares: byLabel(labels),
    mean_probabilities: byLabel(scores),
    /** Windows whose event names a class; null: none does. */
    agreement:
      compared === 0 ? null : { compared, agreed, share: roundToFourDecimals(agreed / compared) },
  };
}

/** Formats the summary for the terminal, without labels with a count of 0. */
export function describeSummary(summary: Summary): string {
  const { rows, answered, rejected, truncated, seconds, labels } = summary;
  const shown = Object.entries(labels).filter(([, times]) => times > 0);
  const counted = shown.reduce((sum, [, times]) => sum + times, 0);
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  const where = summary.rejects === null ? '' : `, see ${summary.rejects}`;
  return [
    `${formatCount(rows)} rows in ${formatDuration(seconds * 1000)}: ${formatCount(answered)} answered, ` +
      `${formatCount(rejected)} rejected${rejected > 0 ? where : ''}`,
    ...shown.map(([label, times]) => {
      const share = ((100 * times) / counted).toFixed(1);
      return `  ${label.padEnd(width)}  ${formatCount(times)} (${share} %)`;
    }),
    ...(summary.recordings ?? []).map(describeShares),
    ...(truncated > 0
      ? [`  ${formatCount(truncated)} texts were longer than the model takes`]
      : []),
    ...(summary.notice ? [summary.notice] : []),
    '',
  ].join('\n');
}

function describeShares({
  file,
  windows,
  shares,
  agreement,
}: ReturnType<typeof describeRecording>) {
  const most = Object.entries(shares)
    .filter(([, share]) => share > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([label, share]) => `${label} ${(100 * share).toFixed(1)} %`);
  const agreed = agreement
    ? `; ${agreement.agreed} of ${agreement.compared} agree with their event`
    : '';
  return `  ${file}: ${windows === 1 ? '1 window' : `${formatCount(windows)} windows`}: ${most.join(', ')}${agreed}`;
}
