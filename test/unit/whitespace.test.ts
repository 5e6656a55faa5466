import { isBlank } from '../../src/tasks/classification';

// [c for c in range(0x110000) if chr(c).isspace()] in Python 3.11
const PYTHON_WHITESPACE = [
  0x9, 0xa, 0xb, 0xc, 0xd, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002,
  0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f,
  0x3000,
];

describe('isBlank', () => {
  it('agrees with Python on every code point', () => {
    const blank: number[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      if (isBlank(String.fromCodePoint(code))) blank.push(code);
    }
    expect(blank).toEqual(PYTHON_WHITESPACE);
  });

  it('takes an empty text, and any mix of white space, for blank', () => {
    expect(isBlank('')).toBe(true);
    expect(isBlank(String.fromCodePoint(...PYTHON_WHITESPACE))).toBe(true);
  });

  it.each(['\ufeff', '\u200b', '\u0000', '\ud800', ' a ', '\u180e'])('keeps %j', (text) => {
    expect(isBlank(text)).toBe(false);
  });

  it('answers at once for a megabyte of spaces before a letter', () => {
    expect(isBlank(`${' '.repeat(2 ** 20)}a`)).toBe(false);
  });
});
