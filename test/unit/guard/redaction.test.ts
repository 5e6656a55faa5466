/** What is redacted is exactly what was found, in whole characters, and can be given back. */
import type { Finding } from '../../../src/tasks/guard/guard-result';
import { Restorer, redact, restore } from '../../../src/tasks/guard/redaction';
import { TextVariant } from '../../../src/tasks/guard/scan';
import { seededRandom } from '../../helpers/random';

const PIECES = [
  'a',
  'bc ',
  '\u{1f600}',
  '\u{1f468}\u200d\u{1f469}',
  'e\u0301',
  '\ud800',
  '<',
  '<A_1>',
  'é',
  '\n',
];
const LABELS = ['A', 'B-x', 'ü'];

function found(label: string, start: number | null, end: number | null, score = 1): Finding {
  return { check: 'c', label, score, part: 0, start, end, variant: 'text', action: 'redact' };
}

/** Widened to whole characters, as looks do it. */
function placed(text: string, label: string, start: number, end: number): Finding[] {
  const look = new TextVariant({ steps: '', part: 0 }, [text]);
  return look.toOriginalSpans(start, end).map((place) => found(label, place.start, place.end));
}

it('any texts and findings: no character is broken, nothing found is left, all of it comes back', () => {
  const random = seededRandom(30);
  const below = (most: number) => Math.floor(random() * most);
  for (let run = 0; run < 2000; run++) {
    const text = Array.from({ length: below(30) }, () => PIECES[below(PIECES.length)]).join('');
    const findings = Array.from({ length: below(6) }, () => {
      const start = below(text.length + 1);
      return placed(text, LABELS[below(3)] as string, start, start + below(8));
    }).flat();
    const { texts, map } = redact([text], findings);
    const [redacted] = texts as [string];
    expect(restore(redacted, map)).toBe(restore(text, map));
    expect(restore(redacted, map).replaceAll(/<A_1>/g, '')).toBe(text.replaceAll(/<A_1>/g, ''));
    for (const [placeholder, original] of Object.entries(map)) {
      expect(text).toContain(original);
      expect(text).not.toContain(placeholder);
    }
    // What is covered is gone: as many units are left as no finding covers.
    const covered = new Set(
      findings.flatMap(({ start, end }) =>
        Array.from(
          { length: (end as number) - (start as number) },
          (_, i) => (start as number) + i,
        ),
      ),
    );
    const kept =
      [...text].length === 0
        ? ''
        : text
            .split('')
            .filter((_, i) => !covered.has(i))
            .join('');
    const parts = Object.keys(map).reduce((rest, one) => rest.replaceAll(one, ''), redacted);
    expect(parts).toBe(kept);
  }
});

it('overlapping findings are one, under the label of the longest, then of the surest, then of the first', () => {
  const label = (...findings: Finding[]) => redact(['0123456789'], findings).texts[0];
  expect(label(found('A', 0, 3), found('B', 2, 8))).toBe('<B_1>89');
  expect(label(found('A', 0, 3, 0.5), found('B', 0, 3, 0.6))).toBe('<B_1>3456789');
  expect(label(found('A', 0, 3), found('B', 0, 3))).toBe('<A_1>3456789');
  expect(label(found('A', 0, 3), found('A', 3, 6))).toBe('<A_1><A_2>6789');
  expect(label(found('A', null, null), found('B', 1, 2))).toBe('<A_1>');
});

it('equal texts have the same placeholder in all parts, and other labels another', () => {
  const findings = [
    found('A', 0, 1),
    { ...found('A', 0, 1), part: 1 },
    { ...found('B', 2, 3), part: 1 },
  ];
  expect(redact(['xy', 'x x'], findings)).toEqual({
    texts: ['<A_1>y', '<A_1> <B_1>'],
    map: { '<A_1>': 'x', '<B_1>': 'x' },
  });
});

it('a placeholder that a text already holds is none of ours', () => {
  expect(redact(['<A_1> x'], [found('A', 6, 7)])).toEqual({
    texts: ['<A_1> <A_2>'],
    map: { '<A_2>': 'x' },
  });
});

it('placeholders that are taken elsewhere are not given', () => {
  const { texts } = redact(['x y'], [found('A', 0, 1), found('B', 2, 3)], ['<A_1>', '<A_2>']);
  expect(texts).toEqual(['<A_3> <B_1>']);
});

describe('of a text in pieces', () => {
  const map = { '<A_1>': 'one', '<EMAIL_12>': 'ann@example.org' };

  it('placeholders are given back wherever they are cut', () => {
    const text = 'a < b <A_1><EMAIL_12> <EMAIL_1> <<A_1>> <A_1 <EMAIL_12';
    const expected = restore(text, map);
    expect(expected).toBe('a < b oneann@example.org <EMAIL_1> <one> <A_1 <EMAIL_12');
    for (let first = 0; first <= text.length; first++) {
      for (let second = first; second <= text.length; second++) {
        const restorer = new Restorer(map);
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        const given = pieces.map((piece) => restorer.push(piece)).join('');
        expect(given + restorer.end()).toBe(expected);
      }
    }
  });

  it('nothing is held back but what may be the beginning of one', () => {
    const restorer = new Restorer(map);
    expect(
      ['I am <b', ' <EM', 'AIL_12>', ' <EMAIL_123456'].map((one) => restorer.push(one)),
    ).toEqual(['I am <b', ' ', 'ann@example.org', ' <EMAIL_123456']);
    expect(restorer.end()).toBe('');
    expect(new Restorer({}).push('<A_')).toBe('<A_');
  });
});
