/** A text within JSON, and how it is put back. */
export interface Place {
  readonly text: string;
  readonly put: (text: string) => void;
  /** Where it is: that of an element of an array by its own `index`, where it has one. */
  readonly at: string;
  /** What a tool is called with, or returns: it may be JSON. */
  readonly isOfCall: boolean;
}

/** Fields of what tools are called with, and of what they return. */
const OF_CALLS: Steps = ['arguments', 'input', 'output', 'partial_json'];

/** A path as its steps: names of fields, and null for each element of an array. */
export type Steps = readonly (string | null)[];

/** @param path as in the file of a guard: `messages[].content` */
export function stepsOf(path: string): Steps {
  return path.split('.').flatMap((part) => {
    const name = part.replace(/(\[\])+$/, '');
    return [name, ...Array((part.length - name.length) / 2).fill(null)];
  });
}

/** The texts that are at these places, in the order of the paths; what is no text there is passed over. */
export function findTexts(json: unknown, paths: readonly Steps[]): readonly Place[] {
  const found: Place[] = [];

  function look(node: unknown, steps: Steps, at: string): void {
    const [step, ...rest] = steps;
    if (step === null) {
      if (Array.isArray(node)) {
        for (const index of node.keys()) take(node, index, rest, `${at}[${indexOf(node, index)}]`);
      }
    } else if (isObject(node) && !Array.isArray(node) && Object.hasOwn(node, step as string)) {
      take(node, step as string, rest, `${at}.${step}`);
    }
  }

  function take(node: object, key: string | number, rest: Steps, at: string): void {
    const holder = node as Record<string | number, unknown>;
    const value = holder[key];
    const isOfCall = node !== json && OF_CALLS.includes(String(key));
    if (rest.length > 0) look(value, rest, at);
    else if (typeof value === 'string') {
      const put = (text: string): void => {
        holder[key] = text;
      };
      found.push({ at, text: value, put, isOfCall });
    } else if (isOfCall && isObject(value)) {
      const put = (text: string): void => {
        holder[key] = JSON.parse(text);
      };
      found.push({ at, text: JSON.stringify(value), put, isOfCall });
    }
  }

  for (const steps of paths) look(json, steps, '');
  return found;
}

function indexOf(array: readonly unknown[], index: number): number {
  const element = array[index];
  const own = isObject(element) ? (element as { readonly index?: unknown }).index : undefined;
  return typeof own === 'number' ? own : index;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
