import { sigmoid, softmax } from '../../lib/numbers';
import { EngineError, type InferOptions } from '../../native/engine';
import type { Predictor } from '../predictor';
import type { Task } from '../task';
import type { TaskModel } from '../task-model';
import type { GliclassInput } from './gliclass-prompt';
import { type GliclassModelMetadata, gliclass } from './gliclass-task';
import type { OptionLogits } from './option-logits';
import type {
  Decision,
  DecisionModel,
  DecisionRequest,
  PredicateQuestion,
  Question,
} from './questions';

/** Maximum length of the states of all questions of a request in UTF-16 units: the tokenizer reads each of them. */
const MAX_CHARACTERS = 2 ** 22;

type GliclassModel = Predictor<GliclassInput, OptionLogits, GliclassModelMetadata>;

/** Creates the decision model of a GLiClass model; null: another model. */
export function createGliclassDecisionModel(task: Task, model: TaskModel): DecisionModel | null {
  const isOwn = task === (gliclass as unknown as Task);
  return isOwn ? new GliclassDecisionModel(model as unknown as GliclassModel) : null;
}

/** Labels of a question: texts of its options. A statement without both criteria is a single label. */
function labelsOf(question: Question): Pick<GliclassInput, 'labels' | 'prompt'> {
  const { instructions: prompt } = question;
  switch (question.type) {
    case 'choice': {
      const labels = question.options.map(({ label, description }) =>
        description ? `${label}: ${description}` : label,
      );
      return { labels, prompt };
    }
    case 'score':
      return { labels: question.levels.map((level, index) => level ?? String(index)), prompt };
    case 'predicate':
      return labelsOfPredicate(question);
  }
}

function labelsOfPredicate({
  instructions,
  criteria,
}: PredicateQuestion): Pick<GliclassInput, 'labels' | 'prompt'> {
  if (criteria.true !== null && criteria.false !== null) {
    return { labels: [criteria.false, criteria.true], prompt: instructions };
  }
  return { labels: [instructions ?? criteria.true ?? criteria.false ?? ''], prompt: null };
}

/** Probabilities of the options. Of a predicate: of false, then of true. */
function probabilitiesOf(question: Question, logits: Float32Array): readonly number[] {
  if (question.type !== 'predicate' || logits.length > 1) return [...softmax(logits)];
  const holds = sigmoid(logits)[0] as number;
  const isNegated = question.instructions === null && question.criteria.true === null;
  return isNegated ? [holds, 1 - holds] : [1 - holds, holds];
}

/** @throws EngineError LIST_TOO_LONG */
function requireCharacters(count: number): void {
  if (count <= MAX_CHARACTERS) return;
  const message = `The state, repeated for each question, has ${count} characters, over the limit of ${MAX_CHARACTERS}. Send fewer questions, or a shorter state.`;
  throw new EngineError('LIST_TOO_LONG', message);
}

/** The state is the text, the instructions are the description of the task, the options are the labels. */
class GliclassDecisionModel implements DecisionModel {
  readonly readsWindows = false;
  readonly #model: GliclassModel;

  constructor(model: GliclassModel) {
    this.#model = model;
  }

  get metadata(): GliclassModelMetadata {
    return this.#model.metadata;
  }

  admissionError(timeoutMs: number): EngineError | null {
    return this.#model.admissionError(timeoutMs);
  }

  async decide(
    { state, truncationSide, questions }: DecisionRequest,
    options: InferOptions,
  ): Promise<Decision> {
    requireCharacters(state.length * questions.length);
    const inputs = questions.map((question) => ({
      text: state,
      truncationSide,
      ...labelsOf(question),
    }));
    const predictions = await this.#model.runAll(inputs, options);
    const answers = predictions.map(({ logits, inference }, index) => ({
      probabilities: probabilitiesOf(questions[index] as Question, logits),
      isTruncated: inference.truncated,
    }));
    return { answers, inferences: predictions.map(({ inference }) => inference) };
  }
}
