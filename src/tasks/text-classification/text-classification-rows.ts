import { fieldOf } from '../../files/rows';
import type { TextInput } from '../../native/engine';
import type { Classification, ClassifierMetadata } from '../capabilities';
import { isBlank } from '../classification';
import { ALL_LABELS, classFormat } from '../classifier-rows';
import type { InputRow, Rows, Taken } from '../rows';
import { TEXT_COLUMN, textOf } from '../text-rows';

const COLUMNS = { label: 'label', score: 'score', truncated: 'truncated' };

export const classifierRows: Rows<string | TextInput, Classification, ClassifierMetadata> = {
  flags: {
    ...TEXT_COLUMN,
    'pair-column': {
      value: 'NAME',
      help: 'of the second texts of pairs (default: there are none)',
    },
    ...ALL_LABELS,
  },
  formats: [],
  readsRecordings: false,
  read: (values) => {
    const textColumn = values.get('text-column') ?? 'text';
    const pairColumn = values.get('pair-column') ?? null;
    const allLabels = values.has('all-labels');
    return {
      requiredColumns: pairColumn === null ? [textColumn] : [textColumn, pairColumn],
      decisive: { textColumn, pairColumn, allLabels },
      bind: (model) => ({
        ...classFormat(COLUMNS, model.metadata.labels, allLabels),
        omittedColumns: [],
        windowing: null,
        take: (row) => take(row, textColumn, pairColumn),
        lengthOf: (input) =>
          typeof input === 'string' ? input.length : input.text.length + (input.pair?.length ?? 0),
        run: (input) => model.run(input, {}),
      }),
    };
  },
};

function take(
  row: InputRow,
  textColumn: string,
  pairColumn: string | null,
): Taken<string | TextInput> {
  const text = textOf(row, textColumn);
  if (typeof text !== 'string') return text;
  if (isBlank(text)) return { problem: `${textColumn}: is empty` };
  if (pairColumn === null) return { input: text };
  // It may be blank, or null: then there is none, as on the routes.
  const pair = fieldOf(row, pairColumn) === null ? '' : textOf(row, pairColumn);
  return typeof pair === 'string' ? { input: { text, pair } } : pair;
}
