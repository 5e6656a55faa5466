import type { Draw } from './draw';

const WORDS =
  'the a and but not never very quite movie film hotel was is great dull naïve café 1984 --- it’s'.split(
    ' ',
  );

/** What Python's `str.strip()` takes away (CPython, Objects/unicodetype_db.h). */
export const PYTHON_SPACES: readonly number[] = [
  ...[0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680],
  ...Array.from({ length: 11 }, (_, i) => 0x2000 + i),
  ...[0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
];
/** White space elsewhere (JavaScript, Unicode of old), or invisible. */
const NEARLY_SPACES = [0x180e, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0x00];

const FRAGMENTS: readonly string[] = [
  ...['\0', '\u0007', '\u001b[31m', '\u007f', '\u0085', '\ufeff', '\ufffd', '\ufffe', '\uffff'],
  ...['e\u0301', '\u0301', 'n\u0303\u0323', 'ａ', 'ﬁ', 'Å', 'ß', 'İ', 'ı', 'ΑΣ', 'ǆ', '각', '각'],
  ...['👩‍👩‍👧‍👦', '🏳️‍🌈', '🇩🇪', '👍🏽', '\u{1f468}\u200d', '\ufe0f', '\u{e0067}', '\u{10ffff}'],
  ...['שלום', 'مرحبا', '\u202e', '\u2066', '日本語', '中文', 'ไทย', 'हिन्दी', '𝕳', '𠜎'],
  ...['\ud800', '\udfff', '\udc00\ud800', '\ud83d', '"', '\\', '\\u0000', '</script>', '$(x)'],
  ...['[CLS]', '[SEP]', '<s>', '</s>', '<unk>', '[MASK]', '▁', 'Ġ', '##ing', '<0x0A>', '%s', "'"],
];

/** A text of up to about `most` characters: words, or what is hard about Unicode, or both. */
export function makeString(draw: Draw, most: number): string {
  const length = draw.size(most);
  const kind = draw.weighted<() => string>([
    [6, () => repeat(length / 6, () => `${draw.pick(WORDS)} `)],
    [3, () => repeat(length / 3, () => draw.pick(FRAGMENTS))],
    [3, () => repeat(length / 5, () => draw.pick(draw.chance(0.3) ? FRAGMENTS : WORDS))],
    [2, () => repeat(length, () => String.fromCodePoint(draw.below(0x110000)))],
    [2, () => repeat(length, () => String.fromCharCode(draw.below(0x10000)))],
    [1, () => repeat(length, () => String.fromCharCode(draw.below(0x100)))],
    [1, () => repeat(length, () => String.fromCodePoint(draw.pick(PYTHON_SPACES)))],
    [1, () => repeat(length, () => String.fromCodePoint(draw.pick(NEARLY_SPACES)))],
    [1, () => draw.pick(FRAGMENTS).repeat(Math.ceil(length / 4))],
  ]);
  return kind();
}

/** The block `index` of 256 code points, surrogates included. */
export function codePoints(index: number): string {
  return String.fromCodePoint(...Array.from({ length: 256 }, (_, i) => index * 256 + i));
}
export const CODE_POINT_BLOCKS = 0x110000 / 256;

function repeat(count: number, make: () => string): string {
  let text = '';
  for (let i = 0; i < count; i++) text += make();
  return text;
}
