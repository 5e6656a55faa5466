import type { JobTotals } from '../../files/journal/journal';
import { formatCount, formatDuration } from '../../files/progress';
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
    seconds: Number(seconds.toFixed(3)),
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
    ...(truncated > 0
      ? [`  ${formatCount(truncated)} texts were longer than the model takes`]
      : []),
    ...(summary.notice ? [summary.notice] : []),
    '',
  ].join('\n');
}
