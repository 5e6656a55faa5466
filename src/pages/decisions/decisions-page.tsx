import { plural } from '../shared/format';
import { startTaskPage } from '../shared/page';
import { Examples, RequestForm, Select, TextArea } from '../shared/request-form';
import { RequestResultCard } from '../shared/result-card';
import { AnswerList, announcementOf } from './answer-list';
import {
  decision,
  fillForm,
  format,
  type StateFormat,
  state,
  stateProblem,
  type TruncationSide,
  truncationSide,
} from './decision-state';
import { EXAMPLES } from './examples';
import { QuestionEditor } from './question-editor';
import { ADD_QUESTION, addQuestion, MAX_QUESTIONS, questionFocus, questions } from './questions';
import './decisions.css';

const FORMATS: readonly (readonly [StateFormat, string])[] = [
  ['text', 'text'],
  ['json', 'JSON object or array'],
];
const SIDES: readonly (readonly [TruncationSide, string])[] = [
  ['default', 'default: left for a JSON array, right for others'],
  ['left', 'left: remove the beginning'],
  ['right', 'right: remove the end'],
];

const { Announcer, useFocus } = questionFocus;

function Composer() {
  return (
    <RequestForm
      form={decision}
      verb="Decide"
      busy="Deciding…"
      amount={plural(questions.value.length, 'question')}
    >
      <Examples examples={Object.keys(EXAMPLES)} onChoose={decideExample} />
      <Select id="format" label="Format of the state" value={format} options={FORMATS} />
      <TextArea
        id="state"
        label="State"
        rows={6}
        placeholder="The text or JSON that the questions are about"
        value={state}
      />
      <div role="status" class="status-region">
        {stateProblem.value !== null && <p class="failed wrap">{stateProblem.value}</p>}
      </div>
      <Select
        id="truncation"
        label="Truncation of a long state"
        value={truncationSide}
        options={SIDES}
      />
      <QuestionList />
    </RequestForm>
  );
}

function QuestionList() {
  useFocus();
  return (
    <>
      {questions.value.map((question, index) => (
        <QuestionEditor key={question.id} question={question} index={index} />
      ))}
      <div class="row">
        <button
          type="button"
          class="small"
          id={ADD_QUESTION}
          disabled={questions.value.length >= MAX_QUESTIONS}
          onClick={addQuestion}
        >
          Add a question
        </button>
      </div>
      <Announcer />
    </>
  );
}

function decideExample(name: string): void {
  const example = EXAMPLES[name];
  if (!example) return;
  fillForm({ ...example, questions: example.questions() });
  decision.submit().catch(reportError);
}

function Results() {
  return (
    <RequestResultCard
      request={decision}
      empty="The answer to each question, with the probabilities of all outcomes."
      truncation="The state was truncated."
      announce={({ body: { answers } }) => answers.map(announcementOf).join('. ')}
    >
      {({ input, body: { answers } }) => (
        <AnswerList answers={answers} questions={input.questions} />
      )}
    </RequestResultCard>
  );
}

startTaskPage('Decisions', Composer, Results);
