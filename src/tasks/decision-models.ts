import { CalibratedDecisionModel } from './decision/calibrated-decision-model';
import { createGliclassDecisionModel } from './decision/gliclass-decision-model';
import { createLayaDecisionModel } from './decision/laya-decision-model';
import { createNliDecisionModel } from './decision/nli-decision-model';
import type { DecisionModel } from './decision/questions';
import { createGliner2DecisionModel } from './gliner2/gliner2-decision-model';
import type { Task } from './task';
import type { TaskModel } from './task-model';

/** Creates the decision model of a loaded model; null: another kind of model. */
export type DecisionModelFactory = (task: Task, model: TaskModel) => DecisionModel | null;

/**
 * Kinds of models that answer typed questions, one module each. The task of a kind has the capability `decision` if
 * decisions are its purpose.
 */
const FACTORIES: readonly DecisionModelFactory[] = [
  createNliDecisionModel,
  createLayaDecisionModel,
  createGliclassDecisionModel,
  createGliner2DecisionModel,
];

/** The decision model of a loaded model; null: it does not answer questions. */
export function createDecisionModel(task: Task, model: TaskModel): DecisionModel | null {
  for (const create of FACTORIES) {
    const decisionModel = create(task, model);
    if (!decisionModel) continue;
    const { decisionTemperatures: temperatures } = model.metadata;
    return temperatures ? new CalibratedDecisionModel(decisionModel, temperatures) : decisionModel;
  }
  return null;
}
