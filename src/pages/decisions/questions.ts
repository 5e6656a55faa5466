import { signal } from '@preact/signals';
import type { QuestionInput } from '../../client';
import { createListFocus } from '../shared/list-focus';

export type QuestionType = QuestionInput['type'];

/** Option of a choice, or level of a score. */
export interface Item {
  /** Unique on the page; part of the ids of its fields. */
  readonly id: number;
  /** Label of an option; levels have none. */
  readonly label: string;
  readonly description: string;
}

/** Question as edited. It keeps the fields of all types, so that a change of the type loses no input. */
export interface EditedQuestion {
  /** Unique on the page; part of the ids of its fields. */
  readonly id: number;
  readonly type: QuestionType;
  readonly name: string;
  readonly instructions: string;
  /** Criteria of a predicate. */
  readonly whenTrue: string;
  readonly whenFalse: string;
  readonly options: readonly Item[];
  readonly levels: readonly Item[];
}

/** Names of the item lists of a question. */
export type ItemList = 'options' | 'levels';

export const ADD_QUESTION = 'add-question';
/** Limits of `POST /decide`. */
export const MAX_QUESTIONS = 256;
export const MAX_ITEMS: Readonly<Record<ItemList, number>> = { options: 255, levels: 10 };

let count = 0;

export const questions = signal<readonly EditedQuestion[]>([newQuestion()]);
export const questionFocus = createListFocus();

export function newItem(label = '', description = ''): Item {
  return { id: count++, label, description };
}

export function newQuestion(fields: Partial<Omit<EditedQuestion, 'id'>> = {}): EditedQuestion {
  return {
    id: count++,
    type: 'predicate',
    name: '',
    instructions: '',
    whenTrue: '',
    whenFalse: '',
    options: [newItem(), newItem()],
    levels: [newItem(), newItem(), newItem()],
    ...fields,
  };
}

/** Id of the element `part` of a question or an item. */
export function idOf({ id }: { readonly id: number }, part: string): string {
  return `${part}-${id}`;
}

export function changeQuestion(
  question: EditedQuestion,
  change: Partial<Omit<EditedQuestion, 'id'>>,
): void {
  questions.value = questions.value.map((other) =>
    other.id === question.id ? { ...other, ...change } : other,
  );
}

export function addQuestion(): void {
  const question = newQuestion();
  questions.value = [...questions.value, question];
  questionFocus.moveTo([idOf(question, 'type')]);
  questionFocus.announce(`Question ${questions.value.length} added`);
}

export function removeQuestion(index: number): void {
  questions.value = questions.value.filter((_, other) => other !== index);
  const next = questions.value[Math.min(index, questions.value.length - 1)];
  questionFocus.moveTo([...(next ? [idOf(next, 'remove')] : []), ADD_QUESTION]);
  questionFocus.announce(`Question ${index + 1} removed`);
}

/** Swaps a question with the one before or after it. The focus stays on its buttons. */
export function moveQuestion(index: number, direction: 'up' | 'down'): void {
  const target = direction === 'up' ? index - 1 : index + 1;
  const moved = questions.value[index];
  const other = questions.value[target];
  if (!moved || !other) return;
  questions.value = questions.value.map((question, at) =>
    at === index ? other : at === target ? moved : question,
  );
  questionFocus.moveTo([idOf(moved, direction), idOf(moved, direction === 'up' ? 'down' : 'up')]);
  questionFocus.announce(`Question ${index + 1} is now question ${target + 1}`);
}

export function changeItem(
  question: EditedQuestion,
  list: ItemList,
  item: Item,
  change: Partial<Omit<Item, 'id'>>,
): void {
  const items = question[list].map((other) =>
    other.id === item.id ? { ...other, ...change } : other,
  );
  changeQuestion(question, { [list]: items });
}

export function addItem(question: EditedQuestion, list: ItemList): void {
  const item = newItem();
  changeQuestion(question, { [list]: [...question[list], item] });
  questionFocus.moveTo([idOf(item, list === 'options' ? 'label' : 'description')]);
}

export function removeItem(question: EditedQuestion, list: ItemList, index: number): void {
  const items = question[list].filter((_, other) => other !== index);
  changeQuestion(question, { [list]: items });
  const next = items[Math.min(index, items.length - 1)];
  questionFocus.moveTo([...(next ? [idOf(next, 'remove')] : []), idOf(question, `add-${list}`)]);
  questionFocus.announce(`${list === 'options' ? 'Option' : 'Level'} removed`);
}

/** Missing input of a question; null: it can be sent. */
export function missingInput(question: EditedQuestion): string | null {
  const { type, instructions, whenTrue, whenFalse, options, levels } = question;
  if (type === 'predicate') {
    const isEmpty = [instructions, whenTrue, whenFalse].every((text) => text.trim() === '');
    return isEmpty ? 'Enter a statement or a criterion.' : null;
  }
  if (type === 'score') return levels.length === 0 ? 'Add at least one level.' : null;
  if (options.length === 0) return 'Add at least one option.';
  const isUnlabelled = options.some(({ label }) => label.trim() === '');
  return isUnlabelled ? 'Enter a label for each option.' : null;
}

/** Question for the request. Blank optional fields are left out. */
export function toInput(question: EditedQuestion): QuestionInput {
  const { type, name, instructions, whenTrue, whenFalse, options, levels } = question;
  const named = {
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(instructions.trim() !== '' && { instructions }),
  };
  switch (type) {
    case 'predicate': {
      const criteria = { true: orNull(whenTrue), false: orNull(whenFalse) };
      const hasCriteria = criteria.true !== null || criteria.false !== null;
      return { type, ...named, ...(hasCriteria && { criteria }) };
    }
    case 'choice':
      return {
        type,
        ...named,
        options: options.map(({ label, description }) => ({
          label: label.trim(),
          description: orNull(description),
        })),
      };
    case 'score':
      return { type, ...named, levels: levels.map(({ description }) => orNull(description)) };
  }
}

function orNull(text: string): string | null {
  return text.trim() === '' ? null : text;
}
