import { softmax } from '../../lib/numbers';
import type { EngineError, InferOptions } from '../../native/engine';
import type { OptionLogits } from '../decision/option-logits';
import type { Decision, DecisionModel, DecisionRequest, Question } from '../decision/questions';
import type { Predictor } from '../predictor';
import type { Task } from '../task';
import type { TaskModel } from '../task-model';
import type { ClassInput } from './class-sequence';
import { type Gliner2ModelMetadata, isGliner2 } from './gliner2-task';

type Gliner2Model = Predictor<ClassInput, OptionLogits, Gliner2ModelMetadata>;

/** Name of the task in the prompt, before the instructions. */
const TASK = 'decision';

/** Creates the decision model of a GLiNER2 model; null: another model. */
export function createGliner2DecisionModel(task: Task, model: TaskModel): DecisionModel | null {
  return isGliner2(task) ? new Gliner2DecisionModel(model as unknown as Gliner2Model) : null;
}

/** Classes of a question: its options. A predicate has the classes no and yes, whose descriptions are the criteria. */
function classesOf(question: Question): ClassInput['classes'] {
  switch (question.type) {
    case 'choice':
      return question.options.map(({ label, description }) => ({ name: label, description }));
    case 'score':
      return question.levels.map((level, index) => ({
        name: level ?? String(index),
        description: null,
      }));
    case 'predicate':
      return [
        { name: 'no', description: question.criteria.false },
        { name: 'yes', description: question.criteria.true },
      ];
  }
}

/** A classification of the state for each question, in a sequence of its own. */
class Gliner2DecisionModel implements DecisionModel {
  readonly readsWindows = false;
  readonly #model: Gliner2Model;

  constructor(model: Gliner2Model) {
    this.#model = model;
  }

  get metadata(): Gliner2ModelMetadata {
    return this.#model.metadata;
  }

  admissionError(timeoutMs: number): EngineError | null {
    return this.#model.admissionError(timeoutMs);
  }

  async decide(
    { state, truncationSide, questions }: DecisionRequest,
    options: InferOptions,
  ): Promise<Decision> {
    const inputs = questions.map((question) => ({
      text: state,
      truncationSide,
      task: TASK,
      instructions: question.instructions,
      classes: classesOf(question),
    }));
    const predictions = await this.#model.runAll(inputs, options);
    const answers = predictions.map(({ logits, inference }) => ({
      probabilities: [...softmax(logits)],
      isTruncated: inference.truncated,
    }));
    return { answers, inferences: predictions.map(({ inference }) => inference) };
  }
}
