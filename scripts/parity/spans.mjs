/** Token classifiers: the spans of each strategy, as the pipeline of transformers tells them. */
import path from 'node:path';

const STRATEGIES = ['none', 'simple', 'first', 'average', 'max'];

/** @param require of dist/tasks, at `tasks` */
export function spans(task, require, tasks) {
  const folder = path.join(tasks, 'token-classification');
  const { spansOf } = require(path.join(folder, 'spans.js'));
  const { codePointsOf } = require(path.join(tasks, '../lib/code-points.js'));
  return {
    name: task.name,
    task,
    run: async (model, text) => {
      const answer = await model.run({ text }, {});
      const point = codePointsOf(text);
      const spans = [];
      for (const strategy of STRATEGIES) {
        const found = await spansOf(answer, model, { strategy, ignoreLabels: [] });
        spans.push(
          found.map(({ label, score, word, start, end }) => [
            ...[label, score, word, point(start), point(end)],
          ]),
        );
      }
      return { inference: answer.inference, label: `${spans[1].length} spans`, spans };
    },
    /** The largest difference of scores; NaN: the spans are others. */
    difference: (ours, theirs) => {
      const [own, reference] = [ours.spans, theirs.spans].map((all) => all.flat());
      const withoutScore = (spans) =>
        JSON.stringify(spans.map(([label, , ...rest]) => [label, rest]));
      if (withoutScore(own) !== withoutScore(reference)) return Number.NaN;
      return Math.max(0, ...own.map(([, score], i) => Math.abs(score - reference[i][1])));
    },
    differs: 'spans differ',
  };
}
