import {
  addItem,
  changeItem,
  type EditedQuestion,
  type Item,
  type ItemList,
  idOf,
  MAX_ITEMS,
  removeItem,
} from './questions';

interface ItemRowsProps {
  readonly question: EditedQuestion;
  readonly list: ItemList;
  /** Number of the question, from 1. */
  readonly number: number;
}

/** Options of a choice with labels and descriptions, or levels of a score with descriptions. */
export function ItemRows({ question, list, number }: ItemRowsProps) {
  const items = question[list];
  const isOptions = list === 'options';
  return (
    <div class="field">
      <span class="minor">
        {isOptions
          ? 'Options: label and description (optional)'
          : 'Levels, from 0 (optional texts)'}
      </span>
      <ol class="items" aria-label={`${isOptions ? 'Options' : 'Levels'} of question ${number}`}>
        {items.map((item, index) => (
          <ItemRow
            key={item.id}
            question={question}
            list={list}
            item={item}
            index={index}
            name={itemName(list, index, number)}
          />
        ))}
      </ol>
      <div class="row">
        <button
          type="button"
          class="small"
          id={idOf(question, `add-${list}`)}
          aria-label={`Add ${isOptions ? 'an option' : 'a level'} to question ${number}`}
          disabled={items.length >= MAX_ITEMS[list]}
          onClick={() => addItem(question, list)}
        >
          {isOptions ? 'Add an option' : 'Add a level'}
        </button>
      </div>
    </div>
  );
}

interface ItemRowProps {
  readonly question: EditedQuestion;
  readonly list: ItemList;
  readonly item: Item;
  readonly index: number;
  /** Accessible name, such as "option 2 of question 1". */
  readonly name: string;
}

function ItemRow({ question, list, item, index, name }: ItemRowProps) {
  const change = (fields: Partial<Omit<Item, 'id'>>): void =>
    changeItem(question, list, item, fields);
  return (
    <li class={`item ${list}`}>
      {list === 'options' ? (
        <input
          id={idOf(item, 'label')}
          type="text"
          autocomplete="off"
          aria-label={`Label of ${name}`}
          placeholder="Label"
          value={item.label}
          onInput={({ currentTarget }) => change({ label: currentTarget.value })}
        />
      ) : (
        <span class="level" aria-hidden="true">
          {index}
        </span>
      )}
      <input
        id={idOf(item, 'description')}
        type="text"
        autocomplete="off"
        aria-label={`Description of ${name}`}
        placeholder="Description"
        value={item.description}
        onInput={({ currentTarget }) => change({ description: currentTarget.value })}
      />
      <button
        type="button"
        class="icon-button"
        id={idOf(item, 'remove')}
        aria-label={`Remove ${name}`}
        title="Remove"
        onClick={() => removeItem(question, list, index)}
      >
        <span aria-hidden="true">×</span>
      </button>
    </li>
  );
}

/** Options are numbered from 1; levels from 0, as in the request. */
function itemName(list: ItemList, index: number, question: number): string {
  const item = list === 'options' ? `option ${index + 1}` : `level ${index}`;
  return `${item} of question ${question}`;
}
