import { readFileSync } from 'node:fs';
import { UsageError } from '../../../files/file-errors';
import { enumFlag, type Flags, type FlagValues } from '../../../files/flags';
import { fieldOf } from '../../../files/rows';
import { roundToFourDecimals } from '../../../lib/numbers';
import { dumpJson } from '../../../lib/python-json';
import { parseForPython } from '../../../lib/python-json-parser';
import { EngineError } from '../../../native/engine';
import { type DecisionAnswer, toAnswer } from '../../../tasks/decision/answers';
import { pathText } from '../../../tasks/decision/problems';
import {
  findQuestionsProblem,
  type QuestionInput,
  toQuestion,
} from '../../../tasks/decision/question-input';
import type { DecisionModel, Question } from '../../../tasks/decision/questions';
import { type QuestionResult, resultOf } from '../../../tasks/decision/results';
import {
  type InputRow,
  jsonOf,
  type RowInput,
  type RowModel,
  TRUNCATED_FIELD,
  textOf,
} from './rows';

/** Estimate of the length of an option or level, for the order of rows and the load of the engine. */
const OPTION_LENGTH = 64;

/** Questions of a row. */
interface RowQuestions {
  readonly inputs: readonly QuestionInput[];
  /** The questions as the model reads them. JSON in questions has the spaces and numbers of Python. */
  readonly parsed: Promise<readonly Question[]>;
}

interface DecisionRow extends RowQuestions {
  /** Text of the state, or JSON that becomes its text. */
  readonly state: { readonly text: string } | { readonly json: string };
  readonly truncationSide: 'left' | 'right';
  readonly inWindows: boolean;
}

interface Answers {
  readonly answers: readonly DecisionAnswer[];
  readonly truncated: boolean;
}

/** Flags of `decide`. */
export const DECISION_FLAGS = {
  questions: { value: 'FILE', help: 'JSON array of questions of all rows' },
  'state-column': { value: 'NAME', help: 'column of the states (default: state)' },
  'questions-column': {
    value: 'NAME',
    help: 'column of questions (default: questions, if no --questions)',
  },
  'truncation-side': {
    value: 'SIDE',
    help: 'truncated end of states: left, right (default: arrays left, texts right)',
  },
  'long-states': {
    value: 'MODE',
    help: 'long states: truncate, or read windows with Laya (default: truncate)',
  },
} as const satisfies Flags;

/** Rows with a state and questions. */
export interface DecisionRowOptions {
  readonly requiredColumns: readonly string[];
  /** Options that determine the output bytes, by name. */
  readonly identity: Readonly<Record<string, unknown>>;
  /** @throws UsageError: the model does not support the options */
  bind(model: DecisionModel): RowModel<DecisionRow, Answers>;
}

/** Reads the flags, and the file of the questions. @throws UsageError */
export function parseDecisionFlags(values: FlagValues): DecisionRowOptions {
  const stateColumn = values.get('state-column') ?? 'state';
  const side = enumFlag(values, 'truncation-side', ['left', 'right']);
  const file = values.get('questions');
  const common = file === undefined ? null : readQuestions(file);
  const questionsColumn = values.get('questions-column') ?? (common ? null : 'questions');
  const inWindows = enumFlag(values, 'long-states', ['truncate', 'windows']) === 'windows';
  const source = { stateColumn, questionsColumn, side, inWindows };
  return {
    requiredColumns: questionsColumn === null ? [stateColumn] : [stateColumn, questionsColumn],
    identity: { ...source, questions: common?.json ?? null },
    bind: (model) => {
      if (inWindows && !model.readsWindows) {
        throw new UsageError('--long-states: the model reads no windows. Use truncate');
      }
      return {
        ...ANSWERS_FORMAT,
        omittedColumns: [],
        split: null,
        toInput: (row) => toInput(row, source, common?.questions ?? null),
        inputLength,
        run: (input) => decide(model, input),
      };
    },
  };
}

/** Questions of a file, and its JSON without spaces. @throws UsageError */
function readQuestions(file: string): { readonly questions: RowQuestions; readonly json: string } {
  let json: string;
  try {
    json = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--questions: ${file}: ${(error as Error).message}`);
  }
  const questions = questionsOf(json, file);
  if ('problem' in questions) throw new UsageError(`--questions: ${questions.problem}`);
  return { questions, json };
}

/** @param place name of the questions in errors */
function questionsOf(json: string, place: string): RowQuestions | { readonly problem: string } {
  let inputs: unknown;
  try {
    inputs = JSON.parse(json);
  } catch {
    return { problem: `${place}: expected a JSON array of questions` };
  }
  const problem = findQuestionsProblem(inputs);
  if (problem) return { problem: `${place}${pathText(problem)}: ${problem.message}` };
  const parsed = parseForPython(json).then((exact) => (exact as QuestionInput[]).map(toQuestion));
  return { inputs: inputs as readonly QuestionInput[], parsed };
}

/** Columns of a row, and the truncated end of its state; null: it depends on the state. */
interface RowSource {
  readonly stateColumn: string;
  /** null: all rows have the same questions. */
  readonly questionsColumn: string | null;
  readonly side: 'left' | 'right' | null;
  readonly inWindows: boolean;
}

function toInput(
  row: InputRow,
  { stateColumn, questionsColumn, side, inWindows }: RowSource,
  common: RowQuestions | null,
): RowInput<DecisionRow> {
  const json = jsonOf(row, stateColumn);
  const text = json ?? textOf(row, stateColumn);
  if (typeof text !== 'string') return text;
  const own = questionsColumn === null ? null : questionsOfRow(row, questionsColumn);
  const questions = own ?? common;
  if (questions === null) return { problem: `${questionsColumn}: expected a JSON array` };
  if ('problem' in questions) return questions;
  const { inputs, parsed } = questions;
  const truncationSide = side ?? (json?.startsWith('[') ? 'left' : 'right');
  const state = json === null ? { text } : { json };
  return { input: { inputs, parsed, state, truncationSide, inWindows } };
}

/** Questions of a column: a JSON array, or its text; null: the row has no questions. */
function questionsOfRow(
  row: InputRow,
  column: string,
): RowQuestions | { readonly problem: string } | null {
  const given = fieldOf(row, column) ?? '';
  if (given === '') return null;
  const json = jsonOf(row, column) ?? textOf(row, column);
  return typeof json === 'string' ? questionsOf(json, column) : json;
}

/** The model reads the state for each question or option. */
function inputLength({ inputs, state }: DecisionRow): number {
  const { length } = 'text' in state ? state.text : state.json;
  return inputs.reduce((sum, question) => {
    const options =
      question.type === 'choice'
        ? question.options.length
        : question.type === 'score'
          ? question.levels.length
          : 2;
    return sum + options * (length + OPTION_LENGTH);
  }, 0);
}

async function decide(
  model: DecisionModel,
  { inputs, parsed, state, ...options }: DecisionRow,
): Promise<Answers> {
  const questions = await parsed;
  const text = 'text' in state ? state.text : dumpJson(await parseForPython(state.json));
  try {
    const { answers } = await model.decide({ state: text, questions, ...options }, {});
    const results = questions.map((question, index) =>
      resultOf(question, answers[index] as (typeof answers)[number]),
    );
    return {
      answers: inputs.map((input, index) =>
        toAnswer(input, results[index] as QuestionResult, roundToFourDecimals),
      ),
      truncated: results.some(({ isTruncated }) => isTruncated),
    };
  } catch (error) {
    if (!(error instanceof EngineError) || error.index === null) throw error;
    throw new EngineError(error.code, `questions[${error.index}]: ${error.message}`);
  }
}

/** Answers in the format of `POST /decide`. The summary counts the options that were chosen. */
const ANSWERS_FORMAT = {
  fields: [
    { name: 'answers', type: 'json', extract: ({ answers }: Answers) => answers } as const,
    TRUNCATED_FIELD,
  ],
  labels: [],
  summarize: ({ answers, truncated }: Answers) => ({
    labels: answers.flatMap((answer) => {
      if (answer.type !== 'choice') return [];
      const { name, choice } = answer;
      return [name === null ? choice : `${name}: ${choice}`];
    }),
    truncated,
  }),
};
