import { PYTHON_SPACES } from '../strings';
import { type Route, WINDOW_LENGTH } from './routes';

/** What must come back. */
export interface Expected {
  readonly status: number;
  /** Of an error. */
  readonly detail?: RegExp;
  /** Of a success: throws if the body is not the answer to this request. */
  readonly check?: (answer: unknown) => void;
}

const LONGEST_LIST = 1024;
const MOST_LEVELS = 100;
const SPACES: ReadonlySet<number> = new Set(PYTHON_SPACES);

/**
 * What the contract says of a body, written down a second time: strict UTF-8 by TextDecoder, JSON by
 * Node's own parser, fields by hand.
 */
export function expectationOf(bytes: Buffer, route: Route): Expected {
  if (bytes.length === 0) return { status: 422, detail: /^body: is required$/ };
  const text = decode(bytes);
  if (text === null) return { status: 422, detail: /^body: is not valid UTF-8$/ };
  if (levelsOf(text) > MOST_LEVELS) {
    return { status: 422, detail: /^body: nested more than 100 levels deep$/ };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { status: 422, detail: /^body: is not valid JSON( \(at position \d+\))?$/ };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { status: 422, detail: /^body: expected an object$/ };
  }
  return expectationOfFields(new Map(Object.entries(value)), route);
}

/** The most brackets and braces that are open at once, outside of strings. */
function levelsOf(text: string): number {
  let levels = 0;
  let most = 0;
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"?|[[{\]}]/gs)) {
    if (token === '[' || token === '{') most = Math.max(most, ++levels);
    else if (token === ']' || token === '}') levels--;
  }
  return most;
}

function decode(bytes: Buffer): string | null {
  try {
    // It takes one byte order mark away.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function expectationOfFields(fields: ReadonlyMap<string, unknown>, route: Route): Expected {
  const { field, isList, service } = route;
  const wrong = wrongIn(fields.get(field), route);
  if (wrong !== null) return { status: 422, detail: exactly(wrong) };
  const patient = fields.has('patient_id') ? fields.get('patient_id') : null;
  if (service === 'eeg' && patient !== null && typeof patient !== 'string') {
    return { status: 422, detail: /^patient_id: expected a string or null$/ };
  }
  const pair = fields.get('text_pair');
  if (service === 'sentiment' && !isList && !isPairOrNone(pair)) {
    return { status: 422, detail: /^text_pair: expected a string or null$/ };
  }
  const value = fields.get(field);
  if (isList && (value as unknown[]).length > LONGEST_LIST) {
    return { status: 413, detail: /elements exceed the limit of 1024\.$/ };
  }
  const elements = isList
    ? (value as unknown[])
    : [pair === undefined ? value : { text: value, text_pair: pair }];
  const refused = elements.findIndex((element) => refusalOf(element, service) !== null);
  if (refused >= 0) {
    const place = isList ? `${field}[${refused}]: ` : '';
    return { status: 400, detail: exactly(`${place}${refusalOf(elements[refused], service)}`) };
  }
  return { status: 200, check: (answer) => checkAnswer(answer, { elements, patient, route }) };
}

/** `signals[2][17]: expected a number`, or null. */
function wrongIn(value: unknown, { field, isList, service }: Route): string | null {
  if (service === 'sentiment') {
    if (!isList) return typeof value === 'string' ? null : wrong(field, value, 'a string');
    if (!Array.isArray(value)) return wrong(field, value, 'an array of texts');
    for (const [index, element] of value.entries()) {
      const found = wrongInElement(element, `${field}[${index}]`);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isList) return wrongInSignal(value, field);
  if (!Array.isArray(value)) return wrong(field, value, 'an array of signals');
  for (const [index, signal] of value.entries()) {
    const found = wrongInSignal(signal, `${field}[${index}]`);
    if (found !== null) return found;
  }
  return null;
}

function wrongInElement(element: unknown, place: string): string | null {
  if (typeof element === 'string') return null;
  if (typeof element !== 'object' || element === null || Array.isArray(element)) {
    return `${place}: expected a string or an object`;
  }
  const fields = new Map(Object.entries(element));
  const text = fields.get('text');
  if (typeof text !== 'string') return wrong(`${place}.text`, text, 'a string');
  return isPairOrNone(fields.get('text_pair'))
    ? null
    : `${place}.text_pair: expected a string or null`;
}

function isPairOrNone(pair: unknown): boolean {
  return pair === undefined || pair === null || typeof pair === 'string';
}

/** Of an element that is as it should be. */
function textsOf(element: unknown): readonly [text: string, pair: unknown] {
  if (typeof element === 'string') return [element, undefined];
  const { text, text_pair } = element as { readonly text: string; readonly text_pair?: unknown };
  return [text, text_pair ?? undefined];
}

function wrongInSignal(value: unknown, place: string): string | null {
  if (!Array.isArray(value)) return wrong(place, value, 'an array of numbers');
  const index = value.findIndex((element) => !Number.isFinite(element));
  if (index < 0) return null;
  const what = typeof value[index] === 'number' ? 'a finite number' : 'a number';
  return `${place}[${index}]: expected ${what}`;
}

function wrong(place: string, value: unknown, what: string): string {
  return `${place}: ${value === undefined ? 'is required' : `expected ${what}`}`;
}

function refusalOf(element: unknown, service: Route['service']): string | null {
  if (service === 'eeg') {
    return (element as unknown[]).length === WINDOW_LENGTH
      ? null
      : `Signal must contain exactly ${WINDOW_LENGTH} data points.`;
  }
  const [text] = textsOf(element);
  const isBlank = [...text].every((char) => SPACES.has(char.codePointAt(0) ?? -1));
  return isBlank ? 'Text payload cannot be empty.' : null;
}

interface Asked {
  readonly elements: readonly unknown[];
  readonly patient: unknown;
  readonly route: Route;
}

function checkAnswer(answer: unknown, { elements, patient, route }: Asked): void {
  const results = route.isList ? (answer as { readonly results: unknown[] }).results : [answer];
  if (results.length !== elements.length) throw new Error('as many results as elements');
  for (const [index, result] of results.entries()) {
    const { input_text, input_text_pair, patient_id, score, confidence } = result as Record<
      string,
      unknown
    >;
    const echo = route.service === 'eeg' ? [patient_id] : [input_text, input_text_pair];
    const sent = route.service === 'eeg' ? [patient] : textsOf(elements[index]);
    if (echo.some((one, i) => one !== sent[i])) {
      throw new Error(`another request's answer: ${JSON.stringify(echo)}`);
    }
    const probability = Number(score ?? confidence);
    if (!(probability >= 0 && probability <= 1) || Number(probability.toFixed(4)) !== probability) {
      throw new Error(`no probability of four decimals: ${probability}`);
    }
  }
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.[\]()]/g, '\\$&')}$`);
}
