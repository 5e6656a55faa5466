/** What is compared of a model, by its task: how ours is asked, and how far an answer is from the reference's. */
import path from 'node:path';
import { spans } from './spans.mjs';

/** The model has no prompt of that name. */
export class PromptError extends Error {}

/**
 * @param require of dist/tasks, at `tasks`
 * @param prompt name of a prompt of the model; undefined: none
 */
export function kindOf(directory, { require, tasks, prompt }) {
  const { matchTasks, TASKS } = require(path.join(tasks, 'registry.js'));
  const { selectPrompt } = require(path.join(tasks, 'embeddings.js'));
  const task = (name) => TASKS.find((each) => each.name === name);
  const prompted = (text, { metadata }) => {
    const fail = (_, known) => {
      throw new PromptError(
        `--prompt ${prompt}: the model's prompts are ${known.join(', ') || 'none'}`,
      );
    };
    return { text, ...selectPrompt({ tasks: [], ...metadata }, { promptName: prompt }, fail) };
  };
  const kinds = [
    numbers(task('text-classification'), {
      ask: (text) => text,
      valuesOf: ({ inference }) => inference.values,
      labelOf: ({ label }) => label,
      differs: 'logits differ',
    }),
    numbers(task('embedding'), {
      ask: prompted,
      valuesOf: ({ vector }) => vector,
      differs: 'vectors differ',
    }),
    numbers(task('token-embedding'), {
      ask: prompted,
      valuesOf: ({ vectors }) => vectors.flatMap((vector) => [...vector]),
      labelOf: ({ vectors }) => `${vectors.length} vectors`,
      differs: 'vectors differ',
    }),
    numbers(task('sparse-embedding'), {
      ask: prompted,
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
      const answer = await model.run(ask(text, model), {});
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
