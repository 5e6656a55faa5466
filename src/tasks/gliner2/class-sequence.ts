import { EngineError, type TokenInput } from '../../native/engine';
import type { TextTokens, TokenRecipe } from '../token-recipe';

/** A class, or an entity type. */
export interface Gliner2Label {
  readonly name: string;
  /** Text that the prompt contains beside the name; null: none. */
  readonly description: string | null;
}

/** A text and the classes that it can have. */
export interface ClassInput {
  readonly text: string;
  readonly truncationSide: 'left' | 'right';
  /** Name of the task. */
  readonly task: string;
  /** What the task is; null: the name says it. */
  readonly instructions: string | null;
  /** At least one. */
  readonly classes: readonly Gliner2Label[];
}

/** Prompt of a task. Source: gliner2, processor.py (`_transform_schema`). */
export function gliner2Prompt(
  task: string,
  instructions: string | null,
  labels: readonly Gliner2Label[],
): string {
  const descriptions = labels.map(({ name, description }) =>
    description === null ? '' : ` [DESCRIPTION] ${name}: ${description}`,
  );
  return `${instructions ? `${task}: ${instructions}` : task}${descriptions.join('')}`;
}

/**
 * The sequence `( [P] prompt ( [L] class … ) ) [SEP_TEXT] text`. Its markers are the tokens [L] of this structure,
 * whatever tokens the prompt and the classes contain. If it is too long, tokens of the text are removed. Source:
 * gliner2, processor.py (`_format_input_with_mapping`).
 */
export function classRecipe(input: ClassInput): TokenRecipe {
  const { text, task, instructions, classes } = input;
  const names = classes.map(({ name }) => name);
  const prompt = gliner2Prompt(task, instructions, classes);
  return {
    texts: ['(', ')', '[P]', '[L]', '[SEP_TEXT]', prompt, ...names],
    addsSpecialTokens: false,
    textOfWords: text,
    compose: (tokens, maxLength) => {
      const ids = tokens.map((part) => part.ids);
      const schema = composeSchema(ids.slice(0, -1));
      return appendText(schema, ids.at(-1) as Uint32Array, {
        maxLength,
        truncationSide: input.truncationSide,
      });
    },
  };
}

interface Schema {
  readonly ids: readonly number[];
  readonly markers: readonly number[];
}

function composeSchema(parts: readonly TextTokens['ids'][]): Schema {
  const [open, close, promptMarker, classMarker, textMarker, prompt, ...names] = parts.map(
    (part) => [...part],
  ) as [number[], number[], number[], number[], number[], number[], ...number[][]];
  const ids = [...open, ...promptMarker, ...prompt, ...open];
  const markers: number[] = [];
  for (const name of names) {
    markers.push(ids.length);
    for (const id of classMarker) ids.push(id);
    for (const id of name) ids.push(id);
  }
  ids.push(...close, ...close, ...textMarker);
  return { ids, markers };
}

/** @throws EngineError INPUT_TOO_LONG: the classes leave no token for the text */
function appendText(
  { ids, markers }: Schema,
  text: TextTokens['ids'],
  {
    maxLength,
    truncationSide,
  }: Pick<ClassInput, 'truncationSide'> & { readonly maxLength: number },
): TokenInput {
  const room = maxLength - ids.length;
  if (room < 1) {
    const message = `The labels and the instructions have ${ids.length} tokens, which leave none for the text: the model takes ${maxLength}. Send fewer or shorter labels.`;
    throw new EngineError('INPUT_TOO_LONG', message);
  }
  const begin = truncationSide === 'left' ? Math.max(0, text.length - room) : 0;
  const kept = text.subarray(begin, begin + room);
  const sequence = new Uint32Array(ids.length + kept.length);
  sequence.set(ids);
  sequence.set(kept, ids.length);
  return {
    ids: sequence,
    types: new Uint32Array(sequence.length),
    markers: Uint32Array.from(markers),
    truncated: kept.length < text.length,
  };
}
