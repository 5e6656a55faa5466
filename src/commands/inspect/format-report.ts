import { printable } from '../../lib/printable';
import type { TensorOutput } from '../../tasks/tensors';
import type { InspectedArchive } from './inspect-archive';
import type { ModelReport } from './inspect-model';

const LABEL_WIDTH = 12;
/** Maximum number of operators in the text, most frequent first; --json has all. */
const SHOWN_OPERATORS = 12;
const SHOWN_LABELS = 10;
/** Maximum number of archive entries in the text. */
const SHOWN_ENTRIES = 20;
/** Maximum line length in characters: names of operators and outputs come from an untrusted file. */
const LONGEST_LINE = 10_000;

type Row = readonly [label: string, text: string];

/** Formats the report of a model for the terminal. */
export function describeReport(report: ModelReport): string {
  return inLines(report.name, rowsOf(report));
}

/** Formats the report of an archive and its model for the terminal. */
export function describeArchive({ name, archive, model, problem }: InspectedArchive): string {
  const { modelName, modelVersion, handler, entries } = archive;
  const named = [modelName, modelVersion].filter((part) => part !== null).join(' ');
  const more = entries.length - SHOWN_ENTRIES;
  const rows: Row[] = [
    [
      'archive',
      [named, handler && `handler ${handler}`].filter(Boolean).join(', ') || 'no manifest',
    ],
    ...entries
      .slice(0, SHOWN_ENTRIES)
      .map((entry): Row => ['entry', `${entry.name}, ${size(entry.bytes)}`]),
    ...(more > 0 ? [['entry', `and ${more} more`] as const] : []),
    ...(model ? rowsOf(model) : [['load error', String(problem)] as const]),
  ];
  return inLines(name, rows);
}

function inLines(name: string, rows: readonly Row[]): string {
  const lines = rows.map(([label, text]) => `  ${label.padEnd(LABEL_WIDTH)}${text}`);
  return `${[name, ...lines].map((line) => printable(line, LONGEST_LINE)).join('\n')}\n`;
}

function rowsOf(report: ModelReport): readonly Row[] {
  const { program, loaded } = report;
  const rows: Row[] = [
    ['service', report.service],
    ['kind', program?.madeBy ? `${report.kind}, saved by ${program.madeBy}` : report.kind],
    ...report.files.map(({ name, bytes }): Row => ['file', `${name}, ${size(bytes)}`]),
    ...(program?.inputs ?? []).map(
      ({ name, type, sizes }): Row => [
        'input',
        [`${name}${type || sizes ? ':' : ''}`, type, sizes].filter(Boolean).join(' '),
      ],
    ),
    ['outputs', describeOutputs(report)],
  ];
  if (program) {
    const { weightCount, weightBytes, weightTypes } = program;
    const types = weightTypes.length > 0 ? ` of ${weightTypes.join(', ')}` : '';
    rows.push(['weights', `${weightCount.toLocaleString('en')}, ${size(weightBytes)}${types}`]);
    rows.push(['operators', describeOperators(report)]);
  }
  if (loaded) {
    const unit = report.service === 'eeg' ? 'samples per window' : 'tokens per text, at most';
    rows.push(['length', `${loaded.maxLength.toLocaleString('en')} ${unit}`]);
    const shared = 'requests share a run';
    rows.push(['batches', loaded.batching ? shared : 'each request runs alone']);
  }
  for (const warning of report.warnings) rows.push(['warning', warning]);
  rows.push(report.problem ? ['load error', report.problem] : ['loads', 'yes']);
  return rows;
}

function describeOutputs({ labels, outputs, program, loaded }: ModelReport): string {
  const names = program?.outputs.filter(Boolean) ?? [];
  const tensors = names.length > 1 ? `; outputs: ${names.join(', ')}` : '';
  if (labels.length === 0) return outputs.map(describeTensor).join(', ') + tensors;
  const shown = labels.slice(0, SHOWN_LABELS).join(', ');
  const more = labels.length > SHOWN_LABELS ? `, … (${labels.length} in total)` : '';
  const count = loaded ? `${counted(loaded.numOutputs, 'number')}: ` : '';
  return `${count}${shown}${more}${tensors}`;
}

/** Name, type and shape of an output, such as `EMBEDDING FP32 [any, 384]`. The first axis is the batch. */
function describeTensor({ name, datatype, shape }: TensorOutput): string {
  const sizes = shape.map((size) => (size < 0 ? 'any' : String(size)));
  return `${name} ${datatype}${sizes.length > 0 ? ` [${sizes.join(', ')}]` : ''}`;
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

function describeOperators({ program }: ModelReport): string {
  const operators = [...(program?.operators ?? [])].sort((a, b) => b.count - a.count);
  const shown = operators
    .slice(0, SHOWN_OPERATORS)
    .map(({ name, count }) => `${name.replace(/^torch\.ops\./, '')} × ${count}`);
  const more = operators.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

function size(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB'];
  const index = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${(bytes / 1000 ** index).toFixed(index === 0 ? 0 : 1)} ${units[index]}`;
}
