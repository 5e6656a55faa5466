import { codePointCounter } from '../../lib/code-points';
import { EngineError } from '../../native/engine';
import type { OutputTensor, Tensors } from '../tensors';
import type { Candidates, EntityInput, EntityMetadata } from './entities';
import { parseLabels } from './labels';
import { overlapsOf, selectEntities } from './overlaps';

const THRESHOLD = 0.5;

/**
 * Tensors of entity recognition. LABELS: for each text a JSON array of labels. The outputs have a row for each entity;
 * offsets are in code points. Overlaps are resolved as the model's library does by default.
 */
export const entityTensors: Tensors<EntityInput, Candidates, EntityMetadata> = {
  inputs: [
    { name: 'TEXT', content: 'text', optional: false },
    { name: 'LABELS', content: 'text', optional: false },
  ],
  outputs: () => [
    { name: 'LABEL', datatype: 'BYTES', shape: [-1] },
    { name: 'SCORE', datatype: 'FP32', shape: [-1] },
    { name: 'OFFSETS', datatype: 'UINT32', shape: [-1, 2] },
    { name: 'ENTITIES', datatype: 'UINT32', shape: [-1] },
  ],
  hasRowPerToken: true,
  labeledOutput: () => null,
  findProblem: () => null,
  findOtherProblem: (labels) => {
    const parsed = parseLabels(labels as string);
    return typeof parsed === 'string' ? parsed : null;
  },
  toInput: ([text, labels]) => ({
    text: text as string,
    labels: parseLabels(labels as string) as EntityInput['labels'],
    threshold: THRESHOLD,
  }),
  write: (answers, metadata): readonly OutputTensor[] => {
    const options = { ...overlapsOf(null, metadata), isMultiLabel: false };
    const entities = answers.map((answer, index) => {
      if (answer.candidates === null) throw tooLong(index);
      return selectEntities(answer.candidates, options);
    });
    const rows = entities.flat();
    const offsets = new Uint32Array(2 * rows.length);
    let row = 0;
    for (const [index, own] of entities.entries()) {
      const { inference, input } = answers[index] as Candidates;
      const toCodePoint = codePointCounter(input.text);
      for (const { first, last } of own) {
        offsets[2 * row] = toCodePoint(inference.words?.offsets[2 * first] as number);
        offsets[2 * row + 1] = toCodePoint(inference.words?.offsets[2 * last + 1] as number);
        row++;
      }
    }
    const names = entities.flatMap((own, index) =>
      own.map(({ label }) => answers[index]?.input.labels[label]?.name as string),
    );
    const count = rows.length;
    const scores = Float32Array.from(rows, ({ score }) => score);
    const counts = Uint32Array.from(entities, ({ length }) => length);
    return [
      { name: 'LABEL', datatype: 'BYTES', shape: [count], values: names },
      { name: 'SCORE', datatype: 'FP32', shape: [count], values: scores },
      { name: 'OFFSETS', datatype: 'UINT32', shape: [count, 2], values: offsets },
      { name: 'ENTITIES', datatype: 'UINT32', shape: [answers.length], values: counts },
    ];
  },
};

function tooLong(index: number): EngineError {
  const message =
    'The text is longer than the model reads at once. Divide it, or use POST /tag, which reads long texts in windows.';
  return new EngineError('INPUT_TOO_LONG', message, { index });
}
