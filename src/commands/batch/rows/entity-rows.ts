import { UsageError } from '../../../files/file-errors';
import { enumFlag, numberFlag } from '../../../files/flags';
import { codePointCounter } from '../../../lib/code-points';
import { roundToFourDecimals } from '../../../lib/numbers';
import type {
  Candidates,
  EntityInput,
  EntityMetadata,
} from '../../../tasks/entity-recognition/entities';
import { findEntities } from '../../../tasks/entity-recognition/find-entities';
import { findLabelProblem, toLabels } from '../../../tasks/entity-recognition/labels';
import { overlapsOf } from '../../../tasks/entity-recognition/overlaps';
import { type TaskRows, TEXT_COLUMN_FLAG, textOf } from './rows';
import { TAGS_FORMAT } from './token-classification-rows';

const SCORE = { form: /^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/, what: 'a number from 0 to 1' };
const UNITS = ['utf-16', 'code-points'] as const;
const MODES = ['flat', 'nested'] as const;

export const entityRows: TaskRows<EntityInput, Candidates, EntityMetadata> = {
  flags: {
    ...TEXT_COLUMN_FLAG,
    labels: { value: 'A,B', help: 'types of entities to find with a GLiNER model' },
    threshold: { value: 'SCORE', help: 'score above which a span is an entity (default: 0.5)' },
    entities: {
      value: 'MODE',
      help: 'flat: no overlaps (default of GLiNER); nested: one can contain others',
    },
    offsets: {
      value: 'UNIT',
      help: 'unit of start and end: utf-16 or code-points (Python); default: utf-16',
    },
  },
  formats: [],
  readsRecordings: false,
  parse: (values) => {
    const textColumn = values.get('text-column') ?? 'text';
    const names = values.get('labels')?.split(',') ?? [];
    const problem = findLabelProblem(names);
    if (problem !== null) throw new UsageError(`--labels: ${problem}`);
    const threshold = numberFlag(values, 'threshold', SCORE) ?? 0.5;
    const mode = enumFlag(values, 'entities', MODES);
    const offsets = enumFlag(values, 'offsets', UNITS) ?? 'utf-16';
    const labels = toLabels(names);
    return {
      requiredColumns: [textColumn],
      identity: { textColumn, labels: names, threshold, mode, offsets },
      bind: (model) => ({
        ...TAGS_FORMAT,
        omittedColumns: [],
        split: null,
        toInput: (row) => {
          const text = textOf(row, textColumn);
          return typeof text === 'string' ? { input: { text, labels, threshold } } : text;
        },
        inputLength: ({ text }) => text.length,
        run: async ({ text }) => {
          const overlaps = overlapsOf(mode === null ? null : mode === 'flat', model.metadata);
          const options = { labels, threshold, ...overlaps, isMultiLabel: false };
          const { entities } = await findEntities(model, [text], options, {});
          const toOffset = offsets === 'utf-16' ? (unit: number) => unit : codePointCounter(text);
          const tags = (entities[0] ?? []).map(({ label, score, start, end }) => ({
            label,
            score: roundToFourDecimals(score),
            word: text.slice(start, end),
            start: toOffset(start),
            end: toOffset(end),
          }));
          return { tags, truncated: false };
        },
      }),
    };
  },
};
