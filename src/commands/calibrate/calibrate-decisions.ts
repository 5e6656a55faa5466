import { UsageError } from '../../files/file-errors';
import type { SchedulingOptions } from '../../native/engine';
import type { DecisionCalibrationFile } from '../../tasks/calibration/decision-calibration';
import { fitTemperature } from '../../tasks/calibration/fit';
import { type Example, type Metrics, measure } from '../../tasks/calibration/metrics';
import type { Question } from '../../tasks/decision/questions';
import { createDecisionModel } from '../../tasks/decision-models';
import { matchTasks } from '../../tasks/registry';
import { TaskModel } from '../../tasks/task-model';
import type { LabeledDecision } from './labeled-decisions';

const TYPES: readonly Question['type'][] = ['predicate', 'choice', 'score'];
/** A type with fewer examples keeps its temperature. */
const MIN_EXAMPLES = 20;
const STATES_PER_TURN = 32;
const MIN_PROBABILITY = 1e-12;

export interface DecisionFit {
  readonly file: DecisionCalibrationFile;
  /** Of all questions whose type has enough examples. */
  readonly before: Metrics;
  /** With temperatures that were fitted on the other half of the examples. */
  readonly after: Metrics;
}

/**
 * Fits a temperature for each type of question.
 *
 * @throws UsageError: the model does not answer questions, or there are too few examples; ModelFileError, EngineError
 */
export async function fitDecisions(
  directory: string,
  decisions: readonly LabeledDecision[],
  scheduling: SchedulingOptions,
): Promise<DecisionFit> {
  const examples = await examplesOf(directory, decisions, scheduling);
  const ofType = (type: Question['type']) =>
    examples.filter((_, index) => decisions[index]?.question.type === type);
  const used = TYPES.map(ofType).filter(({ length }) => length >= MIN_EXAMPLES);
  if (used.length === 0) {
    throw new UsageError(`expected at least ${MIN_EXAMPLES} examples of a type of question`);
  }
  const temperatures = Object.fromEntries(
    TYPES.map((type) => {
      const own = ofType(type);
      return [type, own.length < MIN_EXAMPLES ? 1 : fitTemperature(own, 'softmax')];
    }),
  ) as DecisionCalibrationFile['temperatures'];
  const all = used.flat();
  const halves = used.flatMap((own) => {
    const [even = 1, odd = 1] = [0, 1].map((parity) =>
      fitTemperature(
        own.filter((_, index) => index % 2 !== parity),
        'softmax',
      ),
    );
    return own.map((_, index) => (index % 2 === 0 ? even : odd));
  });
  const before = measure(all, 'softmax', () => ({ temperature: 1, threshold: null }));
  const after = measure(all, 'softmax', (index) => ({
    temperature: halves[index] as number,
    threshold: null,
  }));
  const file = { version: 1, temperatures, examples: all.length } as const;
  return { file, before, after };
}

/** Logarithms of the probabilities without an existing calibration. */
async function examplesOf(
  directory: string,
  decisions: readonly LabeledDecision[],
  scheduling: SchedulingOptions,
): Promise<readonly Example[]> {
  const [match] = matchTasks(directory);
  if (!match) throw new UsageError('expected a folder with a model, found none');
  const [task, place] = match;
  const { source, metadata } = task.read(place);
  const { decisionTemperatures: _, ...uncalibrated } = metadata;
  const files = { source, metadata: uncalibrated };
  const model = (await TaskModel.load(task, place, scheduling, files)) as TaskModel;
  try {
    const decisionModel = createDecisionModel(task, model);
    if (!decisionModel) {
      throw new UsageError(`expected a model that answers questions, the task is ${task.name}`);
    }
    const examples: Example[] = [];
    for (let first = 0; first < decisions.length; first += STATES_PER_TURN) {
      const some = decisions.slice(first, first + STATES_PER_TURN);
      const answers = await Promise.all(
        some.map(({ state, question }) =>
          decisionModel.decide({ state, truncationSide: 'right', questions: [question] }, {}),
        ),
      );
      for (const [index, { targets }] of some.entries()) {
        const probabilities = answers[index]?.answers[0]?.probabilities ?? [];
        const logits = probabilities.map((p) => Math.log(Math.max(p, MIN_PROBABILITY)));
        examples.push({ logits, targets });
      }
    }
    return examples;
  } finally {
    await model.close();
  }
}
