import { RunError } from '../../files/file-errors';
import { expandInputs } from '../../files/input-files';
import { readTable } from '../../files/readers/csv-reader';
import { readJsonLines } from '../../files/readers/jsonl-reader';
import { fieldOf, isRejected, type ReadRow, type Row } from '../../files/rows';
import type { ScoreFunction } from '../../tasks/classification';

/** A text with its right labels. */
export interface LabeledText {
  readonly text: string;
  /** Second text; empty: none. */
  readonly pair: string;
  /** For each label of the model 1 if the text has it, otherwise 0. */
  readonly targets: readonly number[];
}

/**
 * Reads labeled texts of JSONL, CSV or TSV files: `text`, optionally `text_pair`, and `label`, which is a name or an
 * index; for labels that a model predicts independently, a list of them.
 *
 * @throws RunError that names the file, the line and the field
 */
export async function readLabeledTexts(
  files: readonly string[],
  labels: readonly string[],
  scoreFunction: ScoreFunction,
): Promise<readonly LabeledText[]> {
  const examples: LabeledText[] = [];
  for (const input of await expandInputs(files)) {
    const delimiter = /\.tsv(\.|$)/.test(input.name) ? '\t' : ',';
    const isTable = /\.[ct]sv(\.|$)/.test(input.name);
    const batches = isTable ? readTable(input, delimiter) : readJsonLines(input, false);
    for await (const { rows } of batches) {
      for (const row of rows) {
        const problem = (what: string) =>
          new RunError(`${input.name}: line ${row.line}: ${what}. Correct or remove the line`);
        examples.push(toExample(row, { labels, scoreFunction, problem }));
      }
    }
  }
  return examples;
}

interface Context {
  readonly labels: readonly string[];
  readonly scoreFunction: ScoreFunction;
  readonly problem: (what: string) => RunError;
}

function toExample(read: ReadRow, { labels, scoreFunction, problem }: Context): LabeledText {
  if (isRejected(read)) throw problem(read.problem);
  const text = fieldOf(read, 'text');
  if (typeof text !== 'string' || text.trim() === '') throw problem('text: expected a text');
  const pair = fieldOf(read, 'text_pair') ?? '';
  if (typeof pair !== 'string') throw problem('text_pair: expected a text');
  const targets = labels.map(() => 0);
  for (const label of labelsOf(read, scoreFunction, problem)) {
    const index = indexOf(label, labels);
    if (index === null) {
      throw problem(`label: expected one of ${labels.join(', ')}, or an index`);
    }
    targets[index] = 1;
  }
  return { text, pair, targets };
}

function labelsOf(
  row: Row,
  scoreFunction: ScoreFunction,
  problem: Context['problem'],
): readonly unknown[] {
  const label = fieldOf(row, 'label');
  if (label === undefined || label === null) throw problem('label: is missing');
  if (!Array.isArray(label)) return [label];
  if (scoreFunction === 'sigmoid') return label;
  throw problem('label: expected one label, because the model predicts one of its labels');
}

/** A name, or an index as number or, in CSV, as text. */
function indexOf(label: unknown, labels: readonly string[]): number | null {
  const byName = typeof label === 'string' ? labels.indexOf(label) : -1;
  if (byName >= 0) return byName;
  const index = typeof label === 'string' && /^\d+$/.test(label) ? Number(label) : label;
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < labels.length
    ? index
    : null;
}
