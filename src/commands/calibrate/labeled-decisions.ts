import { RunError } from '../../files/file-errors';
import { expandInputs } from '../../files/input-files';
import { readJsonLines } from '../../files/readers/jsonl-reader';
import { fieldOf, isRejected, type ReadRow } from '../../files/rows';
import { pathText } from '../../tasks/decision/problems';
import {
  findQuestionsProblem,
  type QuestionInput,
  toQuestion,
} from '../../tasks/decision/question-input';
import type { Question } from '../../tasks/decision/questions';
import { textOf } from '../../tasks/decision/texts';

/** A question about a state, and the right answer. */
export interface LabeledDecision {
  readonly state: string;
  readonly question: Question;
  /** For each probability of the answer 1 if it is right, otherwise 0. */
  readonly targets: readonly number[];
}

/**
 * Reads JSONL files with `state`, `question` in the format of POST /decide, and `answer`: true or false, the label of an
 * option, or a level.
 *
 * @throws RunError that names the file, the line and the field
 */
export async function readLabeledDecisions(
  files: readonly string[],
): Promise<readonly LabeledDecision[]> {
  const examples: LabeledDecision[] = [];
  for (const input of await expandInputs(files)) {
    for await (const { rows } of readJsonLines(input, false)) {
      for (const row of rows) {
        const problem = (what: string) =>
          new RunError(`${input.name}: line ${row.line}: ${what}. Correct or remove the line`);
        examples.push(toExample(row, problem));
      }
    }
  }
  return examples;
}

function toExample(read: ReadRow, problem: (what: string) => RunError): LabeledDecision {
  if (isRejected(read)) throw problem(read.problem);
  const state = fieldOf(read, 'state');
  if (state === undefined || state === null) throw problem('state: is missing');
  const given = fieldOf(read, 'question');
  const invalid = findQuestionsProblem([given]);
  if (invalid) {
    const path = pathText({ ...invalid, path: invalid.path.slice(1) });
    throw problem(`question${path}: ${invalid.message}`);
  }
  const question = toQuestion(given as QuestionInput);
  const [index, count, what] = answerOf(question, fieldOf(read, 'answer'));
  if (index < 0) throw problem(`answer: expected ${what}`);
  const targets = Array.from({ length: count }, (_, position) => Number(position === index));
  return { state: textOf(state), question, targets };
}

/** Index of the answer, below 0 if it is invalid, the number of answers, and what is expected. */
function answerOf(question: Question, answer: unknown): readonly [number, number, string] {
  switch (question.type) {
    case 'predicate':
      return [typeof answer === 'boolean' ? Number(answer) : -1, 2, 'true or false'];
    case 'choice': {
      const labels = question.options.map(({ label }) => label);
      return [labels.indexOf(answer as string), labels.length, 'the label of an option'];
    }
    case 'score': {
      const { length } = question.levels;
      const isLevel =
        Number.isInteger(answer) && (answer as number) >= 0 && (answer as number) < length;
      return [isLevel ? (answer as number) : -1, length, `a level from 0 to ${length - 1}`];
    }
  }
}
