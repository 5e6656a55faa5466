/**
 * What Python's `str.strip()` removes: the characters with bidirectional type WS, B or S or of
 * category Zs (CPython, Objects/unicodetype_db.h, `_PyUnicode_IsWhitespace`, Unicode 15).
 * JavaScript's `trim()` differs: it lacks U+001C to U+001F and U+0085, and adds U+FEFF.
 */
const ONLY_WHITESPACE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are white space to Python
  /^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

export function isBlank(text: string): boolean {
  return ONLY_WHITESPACE.test(text);
}
