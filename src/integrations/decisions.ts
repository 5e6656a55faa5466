/** Conversion of decisions between the Vercel AI SDK and the models of libtorch-serve. */
import type {
  Experimental_DecisionModelV4CallOptions as CallOptions,
  Experimental_DecisionModelV4Answer as DecisionAnswer,
  Experimental_DecisionModelV4Result as DecisionResult,
  Experimental_DecisionModelV4Question as Question,
} from '@ai-sdk/provider';
import { dumpJson } from '../lib/python-json';
import type { QuestionAnswerer } from './models';

type State = Parameters<QuestionAnswerer['decide']>[0];
type QuestionInput = Parameters<QuestionAnswerer['decide']>[1][number];
type Answer = Awaited<ReturnType<QuestionAnswerer['decide']>>[number];

/** The state: a single part as it is, several parts as their texts line by line. @throws TypeError: a file */
export function stateOf(parts: CallOptions['state']): State {
  const values = parts.map((part, index): State => {
    if (part.type === 'text') return part.text;
    if (part.type === 'json') {
      const { value } = part;
      return typeof value === 'object' && value !== null ? value : dumpJson(value);
    }
    throw new TypeError(
      `state[${index}]: expected text or JSON, received a file. libtorch-serve reads no images`,
    );
  });
  const [only, ...rest] = values;
  if (only !== undefined && rest.length === 0) return only;
  return values.map((value) => (typeof value === 'string' ? value : dumpJson(value))).join('\n');
}

/** Questions whose names are their IDs. */
export function questionsOf(questions: CallOptions['questions']): readonly QuestionInput[] {
  return Object.entries(questions).map(([name, question]) => ({
    name,
    instructions: question.instructions ?? null,
    ...typeFields(name, question),
  }));
}

function typeFields(name: string, question: Question) {
  switch (question.type) {
    case 'boolean':
      return { type: 'predicate', criteria: question.criteria ?? null } as const;
    case 'choice': {
      const options = Object.entries(question.criteria).map(([label, description]) => ({
        label,
        description,
      }));
      return { type: 'choice', options } as const;
    }
    case 'score':
      return { type: 'score', levels: question.criteria } as const;
    case 'box':
      throw new TypeError(`questions.${name}: box questions need an image model`);
  }
}

/** Answers by the IDs of their questions. @param provider key of the metadata */
export function fromAnswers(
  answers: readonly Answer[],
  provider: string,
): Pick<DecisionResult, 'answers' | 'warnings' | 'providerMetadata'> {
  const confidence = answers.flatMap((answer) =>
    answer.type === 'predicate' ? [] : [[String(answer.name), answer.confidence] as const],
  );
  const truncated = answers.filter((answer) => answer.truncated);
  return {
    answers: Object.fromEntries(answers.map((answer) => [String(answer.name), toAnswer(answer)])),
    warnings: truncated.map(({ name }) => ({
      type: 'other',
      message: `questions.${name}: the state was truncated`,
    })),
    providerMetadata: { [provider]: { confidence: Object.fromEntries(confidence) } },
  };
}

function toAnswer(answer: Answer): DecisionAnswer {
  switch (answer.type) {
    case 'predicate':
      return { type: 'boolean', probability: answer.probability };
    case 'choice': {
      const { choice, probabilities } = answer;
      const entries = probabilities.map(({ label, probability }) => [label, probability] as const);
      return { type: 'choice', choice, probabilities: Object.fromEntries(entries) };
    }
    case 'score': {
      const { score, probabilities } = answer;
      const entries = probabilities.map((probability, level) => [String(level), probability]);
      return { type: 'score', score, probabilities: Object.fromEntries(entries) };
    }
  }
}
