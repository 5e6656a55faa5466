import type { Outcome } from '../../files/counts';
import { count, duration } from '../../files/progress';
import type { Job, RowTask } from './job';

export interface Summary {
  readonly service: string;
  /** What the answers are not. */
  readonly notice?: string;
  readonly model: RowTask['model'];
  readonly inputs: number;
  readonly output: string;
  /** null: no row was rejected. */
  readonly rejects: string | null;
  readonly rows: number;
  readonly answered: number;
  readonly rejected: number;
  /** Texts that were longer than the model takes. */
  readonly truncated: number;
  /** Answers by label, those of no answer included. */
  readonly labels: Readonly<Record<string, number>>;
  readonly seconds: number;
}

export interface Summarized {
  readonly job: Pick<Job, 'service' | 'notice' | 'options'>;
  readonly task: Pick<RowTask, 'model' | 'labels'>;
  readonly inputs: number;
  readonly outcome: Outcome;
}

export function summarize({ job, task, inputs, outcome }: Summarized): Summary {
  const { service, notice, options } = job;
  const { answered, rejected, truncated, labels, seconds } = outcome;
  return {
    service,
    ...(notice !== null && { notice }),
    model: task.model,
    inputs,
    output: options.output,
    rejects: rejected > 0 ? options.rejects : null,
    rows: answered + rejected,
    ...{ answered, rejected, truncated },
    labels: Object.fromEntries(task.labels.map((label) => [label, labels[label] ?? 0])),
    seconds: Number(seconds.toFixed(3)),
  };
}

/** For people. Of a thousand labels, those that were the answer. */
export function describeSummary(summary: Summary): string {
  const { rows, answered, rejected, truncated, seconds, labels } = summary;
  const shown = Object.entries(labels).filter(([, times]) => times > 0);
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  const where = summary.rejects === null ? '' : `, see ${summary.rejects}`;
  return [
    `${count(rows)} rows in ${duration(seconds * 1000)}: ${count(answered)} answered, ` +
      `${count(rejected)} rejected${rejected > 0 ? where : ''}`,
    ...shown.map(([label, times]) => {
      const share = ((100 * times) / Math.max(1, answered)).toFixed(1);
      return `  ${label.padEnd(width)}  ${count(times)} (${share} %)`;
    }),
    ...(truncated > 0 ? [`  ${count(truncated)} texts were longer than the model takes`] : []),
    ...(summary.notice ? [summary.notice] : []),
    '',
  ].join('\n');
}
