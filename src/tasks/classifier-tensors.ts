import type { Classification, ClassifierMetadata } from './capabilities';
import type { Tensors } from './tensors';

/** Output tensors for n inputs: top labels [n], their scores [n], scores of all labels [n, labels]. */
export function classifierOutputs(names: {
  readonly label: string;
  readonly score: string;
  readonly scores: string;
}): Pick<
  Tensors<unknown, Classification, ClassifierMetadata>,
  'outputs' | 'labeledOutput' | 'write'
> {
  const { label, score, scores } = names;
  return {
    outputs: ({ labels }) => [
      { name: label, datatype: 'BYTES', shape: [-1] },
      { name: score, datatype: 'FP32', shape: [-1] },
      { name: scores, datatype: 'FP32', shape: [-1, labels.length] },
    ],
    labeledOutput: ({ labels }) => ({ name: scores, labels }),
    write: (answers, { labels: { length } }) => {
      const count = answers.length;
      const all = new Float32Array(count * length);
      for (const [index, answer] of answers.entries()) all.set(answer.scores, index * length);
      const labels = answers.map((answer) => answer.label);
      const ofLabels = Float32Array.from(answers, (answer) => answer.score);
      return [
        { name: label, datatype: 'BYTES', shape: [count], values: labels },
        { name: score, datatype: 'FP32', shape: [count], values: ofLabels },
        { name: scores, datatype: 'FP32', shape: [count, length], values: all },
      ];
    },
  };
}
