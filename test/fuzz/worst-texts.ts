import { Draw } from './draw';
import { makeString } from './strings';

/** What is repeated until the text is long enough. */
const REPEATED: Readonly<Record<string, string>> = {
  'one word': 'x',
  'letters of many kinds, one word': 'aZéßжあ',
  'combining marks': '\u0301',
  'marks in the wrong order': '\u0301\u0323',
  'a letter with many marks': `e${'\u0301\u0327'.repeat(30)}`,
  'accents to be stripped': 'éüñå',
  'emoji joiners': '👩\u200d',
  'flags and skin tones': '🇩🇪👍🏽',
  'one bracket': '(',
  'brackets of two kinds': '[(',
  spaces: ' ',
  'spaces of all kinds': ' \t\n\u00a0\u2003\u3000',
  'line ends': '\r\n',
  'a space after each letter': 'a ',
  'many spaces between words': `${' '.repeat(50)}a`,
  digits: '1',
  apostrophes: "'",
  contractions: "'s't're've",
  Chinese: '中',
  Japanese: 'かな漢字',
  Thai: 'ที่',
  Hangul: '각\u1100\u1161',
  Hebrew: 'שָׁלוֹם',
  Arabic: 'مَرْحَبًا ',
  'right to left and back': '\u202eab\u202cשל',
  'control characters': '\u0001',
  NUL: '\0',
  'a letter and NUL': 'a\0',
  'invisible characters': '\u200b\ufeff\u2060',
  'full width': 'ＡＢ１',
  ligatures: 'ﬁﷺ',
  'private use': '\ue000\u{10fffd}',
  'surrogates alone': '\ud800',
  'special tokens': '[SEP]</s><s>[CLS]<mask>',
  'what tokens are written with': '▁Ġ##<0x0A>',
};

export const WORST_TEXTS: readonly string[] = [...Object.keys(REPEATED), 'all of it, mixed'];

/** A text of `bytes` in UTF-8, or hardly fewer. It ends with a word, so that it is never blank. */
export function worstText(name: string, bytes: number, seed: number): string {
  const piece = REPEATED[name] ?? mixed(seed);
  const count = Math.floor((bytes - 5) / Buffer.byteLength(piece));
  return `${piece.repeat(count)} good`;
}

/** Some kilobytes, so that they do not divide what they are repeated to. */
function mixed(seed: number): string {
  const draw = new Draw(seed);
  return draw
    .list(60, () =>
      draw.chance(0.5) ? makeString(draw, 100) : draw.pick(Object.values(REPEATED)).repeat(20),
    )
    .join('');
}
