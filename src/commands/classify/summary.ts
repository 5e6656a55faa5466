import { open, rename } from 'node:fs/promises';
import type { Options } from './options';
import { syncFolder } from './outputs/files';
import { count, duration } from './progress';
import type { Tally } from './tally';

export const NOTICE = 'A demonstration: no medical device, and no diagnosis.';

export interface Summary {
  readonly service: Options['service'];
  /** For eeg: what it is not. */
  readonly notice?: string;
  readonly model: { readonly name: string | null; readonly version: string | null };
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
  readonly options: Options;
  readonly model: Summary['model'];
  /** All that the model knows. */
  readonly labels: readonly string[];
  readonly inputs: number;
  readonly tally: Tally;
  readonly seconds: number;
}

export function summarize(of: Summarized): Summary {
  const { options, model, inputs, tally } = of;
  const { answered, rejected, truncated } = tally;
  return {
    service: options.service,
    ...(options.service === 'eeg' && { notice: NOTICE }),
    model,
    inputs,
    output: options.output,
    rejects: rejected > 0 ? options.rejects : null,
    rows: answered + rejected,
    ...{ answered, rejected, truncated },
    labels: Object.fromEntries(of.labels.map((label) => [label, tally.labels[label] ?? 0])),
    seconds: Number(of.seconds.toFixed(3)),
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

/** It is there as a whole, or not at all. */
export async function writeSummary(file: string, summary: Summary): Promise<void> {
  const partial = `${file}.partial`;
  const handle = await open(partial, 'w');
  try {
    await handle.writeFile(`${JSON.stringify(summary, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(partial, file);
  await syncFolder(file);
}
