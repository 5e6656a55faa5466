import type { Draw } from '../draw';
import { makeString } from '../strings';
import { writeDeep, writeNumber, writeString, writeValue } from './json';

/** An analysis route: what its body holds, and what comes of it. */
export interface Route {
  readonly path: string;
  readonly service: 'sentiment' | 'eeg';
  /** Of the body: what is analyzed. */
  readonly field: 'text' | 'texts' | 'signal' | 'signals';
  readonly isList: boolean;
}

export const ROUTES: readonly Route[] = [
  { path: '/analyze', service: 'sentiment', field: 'text', isList: false },
  { path: '/analyze/batch', service: 'sentiment', field: 'texts', isList: true },
  { path: '/predict', service: 'eeg', field: 'signal', isList: false },
  { path: '/predict/batch', service: 'eeg', field: 'signals', isList: true },
];

export const WINDOW_LENGTH = 256;
/** Most elements of a list that is drawn; the limit is tried by itself. */
const LONGEST_LIST = 12;
const LONGEST_TEXT = 600;

/** The members of a body that is nearly always answered 200; `tag` is nobody else's. */
export function writeMembers(
  draw: Draw,
  route: Route,
  tag: string,
): [key: string, value: string][] {
  const write = route.service === 'eeg' ? writeSignal : writeTagged(tag);
  const element = route.service === 'eeg' ? write : writeElement(tag);
  const value = route.isList
    ? `[${draw.list(draw.size(LONGEST_LIST) - 1, () => element(draw))}]`
    : write(draw);
  if (route.service === 'sentiment') {
    const isPair = !route.isList && draw.chance(0.3);
    return [[route.field, value], ...(isPair ? [writePair(draw, tag)] : [])];
  }
  const patient = draw.chance(0.1)
    ? draw.pick(['null', writeString(draw, ''), '5', 'false', '[]', '{}'])
    : writeString(draw, tag + (draw.chance(0.3) ? makeString(draw, 50) : ''));
  return [
    [route.field, value],
    ['patient_id', patient],
  ];
}

/** What may stand in the place of a field, or of an element. */
export function writeWrong(draw: Draw, route: Route, tag: string): string {
  const write = route.service === 'eeg' ? writeSignal : writeTagged(tag);
  return draw.weighted<() => string>([
    [4, () => writeValue(draw)],
    [2, () => `[${[...draw.list(draw.below(5), () => write(draw)), writeValue(draw)]}]`],
    [2, () => `[${draw.list(draw.below(4), () => writeValue(draw))}]`],
    [1, () => writeDeep(draw)],
    [1, () => write(draw)],
    [1, () => `[${write(draw)}]`],
  ])();
}

function writeTagged(tag: string): (draw: Draw) => string {
  return (draw) => {
    const text = draw.kept('text', 500, () => writeString(draw, makeString(draw, LONGEST_TEXT)));
    // Between the quotes, which stay as they are however the rest is written.
    return draw.chance(0.8) ? `"${tag} ${text.slice(1)}` : text;
  };
}

function writePair(draw: Draw, tag: string): [key: string, value: string] {
  const value = draw.chance(0.1)
    ? draw.pick(['null', '""', '" "', '5', 'false', '[]', '{}'])
    : writeTagged(tag)(draw);
  return ['text_pair', value];
}

/** A text of a list: as it is, or in an object with another or without. */
function writeElement(tag: string): (draw: Draw) => string {
  return (draw) => {
    const text = writeTagged(tag)(draw);
    if (draw.chance(0.6)) return text;
    const members = [...(draw.chance(0.97) ? [['text', text]] : []), writePair(draw, tag)];
    const some = draw.chance(0.8) ? members : members.slice(0, 1);
    return `{${some.map(([key, value]) => `"${key}":${value}`)}}`;
  };
}

function writeSignal(draw: Draw): string {
  return draw.kept('signal', 200, () => {
    const length = draw.chance(0.97)
      ? WINDOW_LENGTH
      : draw.pick([0, 1, WINDOW_LENGTH - 1, WINDOW_LENGTH + 1, 2 * WINDOW_LENGTH]);
    // Those that vary by a hundred orders of magnitude or more, and the others.
    const isStrange = draw.chance(0.05);
    const offset = draw.pick([0, 0, 4200, -1e6]);
    const values = draw.list(length, () =>
      isStrange ? writeNumber(draw) : String(offset + (draw.below(4000) - 2000) / 100),
    );
    if (draw.chance(0.01) && length > 0) values[draw.below(length)] = writeValue(draw);
    return `[${values}]`;
  });
}
