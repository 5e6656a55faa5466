import { EngineError } from '../../native/engine';
import type { ChoiceQuestion, PredicateQuestion, Question, ScoreQuestion } from './questions';

/** Templates of the hypotheses of an NLI model: `decision` in model.json. */
export interface HypothesisTemplates {
  /** For a question with instructions. Contains `{option}`, and `{instructions}` or not. */
  readonly template: string;
  /** For a question without instructions, if an option has no description. Contains `{option}`. */
  readonly label_template: string;
}

export const DEFAULT_TEMPLATES: HypothesisTemplates = {
  template: 'The answer to "{instructions}" is: {option}',
  label_template: 'This text is about {option}.',
};

/** Maximum length of all hypotheses of a request in UTF-16 units: each option repeats the instructions. */
const MAX_CHARACTERS = 2 ** 22;

/** Problem of a template; null: it is valid. @param names placeholders that it may contain */
export function findTemplateProblem(template: string, names: readonly string[]): string | null {
  const placeholders = template.match(/\{[^{}]*\}/g) ?? [];
  if (placeholders.filter((one) => one === '{option}').length !== 1) {
    return 'expected {option} once';
  }
  const unknown = placeholders.find((one) => !names.includes(one.slice(1, -1)));
  if (unknown !== undefined) return `expected only {${names.join('}, {')}}, found ${unknown}`;
  const rest = placeholders.reduce((text, one) => text.replace(one, ''), template);
  return /[{}]/.test(rest) ? 'expected no other braces' : null;
}

/**
 * Hypotheses of a question: one for each option or level. Of a predicate: one, the statement, or those of false and of
 * true if it has both criteria.
 *
 * @throws EngineError LIST_TOO_LONG: the hypotheses are too long together
 */
export function hypothesesOf(
  questions: readonly Question[],
  templates: HypothesisTemplates,
): readonly (readonly string[])[] {
  requireLength(questions);
  return questions.map((question) => {
    if (question.type === 'predicate') return statementsOf(question);
    const { instructions } = question;
    return optionsOf(question).map(({ label, description }) =>
      hypothesis(instructions, label, description, templates),
    );
  });
}

function optionsOf(question: ChoiceQuestion | ScoreQuestion): ChoiceQuestion['options'] {
  if (question.type === 'choice') return question.options;
  return question.levels.map((description, level) => ({ label: String(level), description }));
}

/** Whether the only hypothesis of a predicate is that of false. */
export function isNegated(question: Question): boolean {
  return (
    question.type === 'predicate' &&
    question.instructions === null &&
    question.criteria.true === null
  );
}

function statementsOf({ instructions, criteria }: PredicateQuestion): readonly string[] {
  if (criteria.true !== null && criteria.false !== null) return [criteria.false, criteria.true];
  return [instructions ?? criteria.true ?? criteria.false ?? ''];
}

function hypothesis(
  instructions: string | null,
  label: string,
  description: string | null,
  { template, label_template }: HypothesisTemplates,
): string {
  if (instructions === null && description !== null) return description;
  const values = { instructions: instructions ?? '', option: description ?? label };
  const used = instructions === null ? label_template : template;
  return used.replaceAll(
    /\{(instructions|option)\}/g,
    (_, name: keyof typeof values) => values[name],
  );
}

/** @throws EngineError LIST_TOO_LONG */
function requireLength(questions: readonly Question[]): void {
  const characters = questions.reduce((sum, question) => {
    if (question.type === 'predicate') return sum;
    const options = optionsOf(question);
    const own = options.reduce(
      (all, { label, description }) => all + (description ?? label).length,
      0,
    );
    return sum + own + options.length * (question.instructions?.length ?? 0);
  }, 0);
  if (characters <= MAX_CHARACTERS) return;
  const message = `The instructions, repeated for each option, have ${characters} characters, over the limit of ${MAX_CHARACTERS}. Send shorter instructions or fewer options.`;
  throw new EngineError('LIST_TOO_LONG', message);
}
