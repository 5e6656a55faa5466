import { findTextProblem, isRecord, type Problem } from '../../tasks/decision/problems';
import type { DecisionRequest } from '../../tasks/decision/questions';
import { textOf } from '../../tasks/decision/texts';
import { IMAGES_UNSUPPORTED, TEXT_OR_JSON } from '../validation/decision-fields';
import { checked } from '../validation/fields';

/** A part of a state, as the Vercel AI SDK sends it. */
type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'json'; readonly value: unknown };

/** Schema of a state. */
export const typeSafeState = checked(findStateProblem, (value) => value).meta({
  ...TEXT_OR_JSON,
  description:
    'Text, or JSON that the model reads as text. A list of parts {"type": "text", "text"} and {"type": "json", "value"} is read as their texts, one per line',
});

/**
 * Text of a state: a string as it is, parts of the Vercel AI SDK line by line, other values as JSON in Python's format.
 * A list that is too long loses its beginning, as in laya.
 *
 * @param state of `exactBody`
 */
export function readState(state: unknown): Pick<DecisionRequest, 'state' | 'truncationSide'> {
  const isList = Array.isArray(state);
  if (!isList || state.length === 0 || !state.every(isPart)) {
    return { state: textOf(state), truncationSide: isList ? 'left' : 'right' };
  }
  const texts = state.map((part) => textOf(part.type === 'text' ? part.text : part.value));
  return { state: texts.join('\n'), truncationSide: texts.length > 1 ? 'left' : 'right' };
}

function isPart(element: unknown): element is Part {
  if (!isRecord(element)) return false;
  return (
    (element.type === 'text' && typeof element.text === 'string') ||
    (element.type === 'json' && element.value !== undefined)
  );
}

function findStateProblem(value: unknown): Problem | null {
  const problem = findTextProblem(value);
  if (problem || !Array.isArray(value)) return problem;
  const file = value.findIndex(isFile);
  return file < 0 ? null : { message: IMAGES_UNSUPPORTED, path: [file] };
}

/** Whether an element is a file part of the Vercel AI SDK. */
function isFile(element: unknown): boolean {
  return isRecord(element) && element.type === 'file' && typeof element.mediaType === 'string';
}
