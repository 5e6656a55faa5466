/** What is compared of a model, by its task: how ours is asked, and how far an answer is from the reference's. */
import path from 'node:path';
import { spans } from './spans.mjs';

/** @param require of dist/tasks, at `tasks` */
export function kindOf(directory, require, tasks) {
  const { matchTasks, TASKS } = require(path.join(tasks, 'registry.js'));
  const task = (name) => TASKS.find((each) => each.name === name);
  const kinds = [
    numbers(task('text-classification'), {
      ask: (text) => text,
      valuesOf: ({ inference }) => inference.values,
      labelOf: ({ label }) => label,
      differs: 'logits differ',
    }),
    numbers(task('embedding'), {
      ask: (text) => ({ text }),
      valuesOf: ({ vector }) => vector,
      differs: 'vectors differ',
    }),
    numbers(task('sparse-embedding'), {
      ask: (text) => ({ text }),
      valuesOf: ({ weights }) => weights,
      labelOf: ({ weights }) => `${weights.filter((weight) => weight !== 0).length} words`,
      differs: 'weights differ',
    }),
    numbers(task('reranking'), {
      // As reference.py: a query and a document that shares its words.
      ask: (text) => ({ text, pair: `About this: ${text}`, isPair: true }),
      valuesOf: ({ scores }) => scores,
      labelOf: ({ scores }) => [...scores].map((score) => score.toFixed(4)).join(' '),
      differs: 'scores differ',
    }),
    spans(task('token-classification'), require, tasks),
  ];
  const able = matchTasks(directory).flatMap(([one]) => kinds.filter(({ task }) => task === one));
  return able[0] ?? kinds[0];
}

/** Answers that are numbers. */
function numbers(task, { ask, valuesOf, labelOf, differs }) {
  return {
    name: task.name,
    task,
    run: async (model, text) => {
      const answer = await model.run(ask(text), {});
      const label = labelOf?.(answer) ?? '';
      return { inference: answer.inference, label, values: [...valuesOf(answer)] };
    },
    difference: ({ values }, { values: expected }) => {
      if (values.length !== expected.length) return Number.NaN;
      const scale = Math.max(1, ...expected.map(Math.abs));
      return (
        values.reduce((most, value, i) => Math.max(most, Math.abs(value - expected[i])), 0) / scale
      );
    },
    differs,
  };
}
