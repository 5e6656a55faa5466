import { ItemRows } from './item-rows';
import {
  changeQuestion,
  type EditedQuestion,
  idOf,
  missingInput,
  moveQuestion,
  type QuestionType,
  questions,
  removeQuestion,
} from './questions';

const TYPES: readonly (readonly [QuestionType, string])[] = [
  ['predicate', 'predicate: is a statement true'],
  ['choice', 'choice: which option applies'],
  ['score', 'score: which level of a scale applies'],
];

interface QuestionEditorProps {
  readonly question: EditedQuestion;
  readonly index: number;
}

/** Fields of one question, and buttons to move and remove it. */
export function QuestionEditor({ question, index }: QuestionEditorProps) {
  const { type } = question;
  const missing = missingInput(question);
  const hint = idOf(question, 'hint');
  return (
    <fieldset class="question" aria-describedby={missing === null ? undefined : hint}>
      <legend class="visually-hidden">Question {index + 1}</legend>
      <QuestionButtons question={question} index={index} />
      <div class="field">
        <label for={idOf(question, 'type')}>Type</label>
        <select
          id={idOf(question, 'type')}
          value={type}
          onChange={({ currentTarget }) =>
            changeQuestion(question, { type: currentTarget.value as QuestionType })
          }
        >
          {TYPES.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <QuestionText
        question={question}
        field="instructions"
        label={type === 'predicate' ? 'Statement' : 'Instructions (optional)'}
      />
      {type === 'predicate' && (
        <>
          <QuestionText question={question} field="whenTrue" label="True if (optional)" />
          <QuestionText question={question} field="whenFalse" label="False if (optional)" />
        </>
      )}
      {type === 'choice' && <ItemRows question={question} list="options" number={index + 1} />}
      {type === 'score' && <ItemRows question={question} list="levels" number={index + 1} />}
      <QuestionText question={question} field="name" label="Name (optional)" />
      <small id={hint} class="hint">
        {missing}
      </small>
    </fieldset>
  );
}

function QuestionButtons({ question, index }: QuestionEditorProps) {
  const number = index + 1;
  return (
    <div class="row">
      <span class="number-of" aria-hidden="true">
        Question {number}
      </span>
      <button
        type="button"
        class="small"
        id={idOf(question, 'up')}
        aria-label={`Move question ${number} up`}
        disabled={index === 0}
        onClick={() => moveQuestion(index, 'up')}
      >
        <span aria-hidden="true">↑</span>
      </button>
      <button
        type="button"
        class="small"
        id={idOf(question, 'down')}
        aria-label={`Move question ${number} down`}
        disabled={index === questions.value.length - 1}
        onClick={() => moveQuestion(index, 'down')}
      >
        <span aria-hidden="true">↓</span>
      </button>
      <button
        type="button"
        class="small"
        id={idOf(question, 'remove')}
        aria-label={`Remove question ${number}`}
        title="Remove"
        onClick={() => removeQuestion(index)}
      >
        <span aria-hidden="true">×</span>
      </button>
    </div>
  );
}

interface QuestionTextProps {
  readonly question: EditedQuestion;
  readonly field: 'name' | 'instructions' | 'whenTrue' | 'whenFalse';
  readonly label: string;
}

function QuestionText({ question, field, label }: QuestionTextProps) {
  const id = idOf(question, field);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        autocomplete="off"
        value={question[field]}
        onInput={({ currentTarget }) => changeQuestion(question, { [field]: currentTarget.value })}
      />
    </div>
  );
}
