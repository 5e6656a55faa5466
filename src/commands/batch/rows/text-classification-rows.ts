import { fieldOf } from '../../../files/rows';
import type { TextInput } from '../../../native/engine';
import type { Classification, ClassifierMetadata } from '../../../tasks/capabilities';
import { isBlank } from '../../../tasks/classification';
import {
  ALL_LABELS_FLAG,
  classificationFormat,
  type InputRow,
  type RowInput,
  type TaskRows,
  TEXT_COLUMN_FLAG,
  textOf,
} from './rows';

const COLUMNS = { label: 'label', score: 'score', truncated: 'truncated' };

export const textClassificationRows: TaskRows<
  string | TextInput,
  Classification,
  ClassifierMetadata
> = {
  flags: {
    ...TEXT_COLUMN_FLAG,
    'pair-column': {
      value: 'NAME',
      help: 'column of the second texts of text pairs (default: no pairs)',
    },
    ...ALL_LABELS_FLAG,
  },
  formats: [],
  readsRecordings: false,
  parse: (values) => {
    const textColumn = values.get('text-column') ?? 'text';
    const pairColumn = values.get('pair-column') ?? null;
    const allLabels = values.has('all-labels');
    return {
      requiredColumns: pairColumn === null ? [textColumn] : [textColumn, pairColumn],
      identity: { textColumn, pairColumn, allLabels },
      bind: (model) => ({
        ...classificationFormat(COLUMNS, model.metadata.labels, allLabels),
        omittedColumns: [],
        split: null,
        toInput: (row) => toInput(row, textColumn, pairColumn),
        inputLength: (input) =>
          typeof input === 'string' ? input.length : input.text.length + (input.pair?.length ?? 0),
        run: (input) => model.run(input, {}),
      }),
    };
  },
};

function toInput(
  row: InputRow,
  textColumn: string,
  pairColumn: string | null,
): RowInput<string | TextInput> {
  const text = textOf(row, textColumn);
  if (typeof text !== 'string') return text;
  if (isBlank(text)) return { problem: `${textColumn}: is empty` };
  if (pairColumn === null) return { input: text };
  // A blank or null second text means no pair, as in the routes.
  const pair = fieldOf(row, pairColumn) === null ? '' : textOf(row, pairColumn);
  return typeof pair === 'string' ? { input: { text, pair } } : pair;
}
