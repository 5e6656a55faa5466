import { printable } from '../../printable';
import type { ModelReport } from './inspect-model';

const LABEL_WIDTH = 11;
/** Of the operators that are used most, in text; --json has all. */
const SHOWN_OPERATORS = 12;
const SHOWN_LABELS = 10;
/** Characters: the names of operators and outputs are the file's. */
const LONGEST_LINE = 10_000;

/** A report in words, a line each. */
export function describeReport(report: ModelReport): string {
  const { program, loaded } = report;
  const rows: [string, string][] = [
    ['service', report.service],
    ['kind', program?.madeBy ? `${report.kind}, saved by ${program.madeBy}` : report.kind],
    ...report.files.map(({ name, bytes }): [string, string] => ['file', `${name}, ${size(bytes)}`]),
    ...(program?.inputs ?? []).map(({ name, type, sizes }): [string, string] => [
      'takes',
      [`${name}${type || sizes ? ':' : ''}`, type, sizes].filter(Boolean).join(' '),
    ]),
    ['gives', describeOutputs(report)],
  ];
  if (program) {
    const { weightCount, weightBytes, weightTypes } = program;
    const types = weightTypes.length > 0 ? ` of ${weightTypes.join(', ')}` : '';
    rows.push(['weights', `${weightCount.toLocaleString('en')}, ${size(weightBytes)}${types}`]);
    rows.push(['operators', describeOperators(report)]);
  }
  if (loaded) {
    const unit = report.service === 'eeg' ? 'samples a window' : 'tokens a text, at most';
    rows.push(['length', `${loaded.maxLength.toLocaleString('en')} ${unit}`]);
    const shared = 'requests share a run';
    rows.push(['batches', loaded.batching ? shared : 'each request runs alone']);
  }
  for (const warning of report.warnings) rows.push(['warning', warning]);
  rows.push(report.problem ? ['refused', report.problem] : ['loads', 'yes']);
  const lines = rows.map(([label, text]) => `  ${label.padEnd(LABEL_WIDTH)}${text}`);
  return `${[report.name, ...lines].map((line) => printable(line, LONGEST_LINE)).join('\n')}\n`;
}

function describeOutputs({ labels, program, loaded }: ModelReport): string {
  const shown = labels.slice(0, SHOWN_LABELS).join(', ');
  const more = labels.length > SHOWN_LABELS ? `, … (${labels.length} in all)` : '';
  const count = loaded ? `${loaded.numOutputs} numbers: ` : '';
  const names = program?.outputs.filter(Boolean) ?? [];
  const tensors = names.length > 1 ? `; its outputs are ${names.join(', ')}` : '';
  return `${count}${shown}${more}${tensors}`;
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
