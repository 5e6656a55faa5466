import {
  type Fields,
  findFirstProblem,
  findLabelProblem,
  findListProblem,
  findOptionalTextProblem,
  isRecord,
  MAX_LEVELS,
  MAX_OPTIONS,
  MAX_QUESTIONS,
  notA,
  type Problem,
  problemAt,
} from './problems';
import type { Question } from './questions';
import { optionalText } from './texts';

/** A text, or JSON that the model reads as text. */
export type TextOrJson = string | object;

/** An option: a label, or a label with a description. */
export type OptionInput =
  | string
  | { readonly label: string; readonly description?: TextOrJson | null };

interface NamedInput {
  /** Name of the answer. */
  readonly name?: string | null;
  /** The question or the statement. */
  readonly instructions?: TextOrJson | null;
}

/** Whether a statement is true. Needs instructions or a criterion. */
export interface PredicateInput extends NamedInput {
  readonly type: 'predicate';
  /** When the statement is true or false. */
  readonly criteria?: {
    readonly true?: TextOrJson | null;
    readonly false?: TextOrJson | null;
  } | null;
}

/** The most probable of 1 to 255 options. */
export interface ChoiceInput extends NamedInput {
  readonly type: 'choice';
  readonly options: readonly OptionInput[];
}

/** Level of a scale of 1 to 10 levels. */
export interface ScoreInput extends NamedInput {
  readonly type: 'score';
  /** Descriptions of the levels, from level 0. */
  readonly levels: readonly (TextOrJson | null)[];
}

/** A question of POST /decide and of the JavaScript API. */
export type QuestionInput = PredicateInput | ChoiceInput | ScoreInput;

/** The question for a model. */
export function toQuestion(input: QuestionInput): Question {
  const instructions = optionalText(input.instructions);
  switch (input.type) {
    case 'predicate': {
      const { true: whenTrue, false: whenFalse } = input.criteria ?? {};
      const criteria = { true: optionalText(whenTrue), false: optionalText(whenFalse) };
      return { type: 'predicate', instructions, criteria };
    }
    case 'choice': {
      const options = input.options.map((option) => ({
        label: labelOf(option),
        description: typeof option === 'string' ? null : optionalText(option.description),
      }));
      return { type: 'choice', instructions, options };
    }
    case 'score':
      return { type: 'score', instructions, levels: input.levels.map(optionalText) };
  }
}

export function labelOf(option: OptionInput): string {
  return typeof option === 'string' ? option : option.label;
}

/** Problem of a list of questions; null: valid. */
export function findQuestionsProblem(value: unknown): Problem | null {
  return findListProblem(value, 'questions', [1, MAX_QUESTIONS], findQuestionProblem);
}

function findQuestionProblem(question: unknown): Problem | null {
  if (!isRecord(question)) return notA('an object', question);
  const { type, name, instructions, options, levels } = question;
  const problem =
    problemAt('name', name == null ? null : findLabelProblem(name)) ??
    problemAt('instructions', findOptionalTextProblem(instructions));
  if (problem) return problem;
  switch (type) {
    case 'predicate':
      return findPredicateProblem(question);
    case 'choice':
      return problemAt('options', findOptionsProblem(options));
    case 'score':
      return problemAt(
        'levels',
        findListProblem(levels, 'levels', [1, MAX_LEVELS], findLevelProblem),
      );
    default:
      return problemAt('type', notA('"predicate", "choice" or "score"', type));
  }
}

function findPredicateProblem({ instructions, criteria }: Fields): Problem | null {
  const given = criteria ?? {};
  if (!isRecord(given)) return problemAt('criteria', notA('an object', given));
  const entries = ['true', 'false'].map((key) => [key, given[key]] as const);
  const problem = findFirstProblem(entries, findOptionalTextProblem);
  if (problem) return problemAt('criteria', problem);
  return findStatementProblem(instructions, given);
}

/** Problem of a predicate without a statement; null: it has one. */
export function findStatementProblem(instructions: unknown, criteria: Fields): Problem | null {
  const texts = [instructions, criteria.true, criteria.false];
  if (texts.some((text) => optionalText(text) !== null)) return null;
  return { message: 'expected instructions, or a criterion for true or false', path: [] };
}

function findOptionsProblem(options: unknown): Problem | null {
  const labels = new Set<unknown>();
  return findListProblem(options, 'options', [1, MAX_OPTIONS], (option) => {
    const { label, description } = isRecord(option) ? option : { label: option };
    const problem =
      findLabelProblem(label) ?? problemAt('description', findOptionalTextProblem(description));
    if (problem) return problem;
    const isRepeated = labels.has(label);
    labels.add(label);
    return isRepeated ? { message: 'repeats the label of another option', path: [] } : null;
  });
}

function findLevelProblem(level: unknown): Problem | null {
  return level === undefined ? notA('a description', null) : findOptionalTextProblem(level);
}
