import { splitIntoSegments, type TextRange } from '../../../src/pages/shared/text-segments';

const at = (start: number, end: number): TextRange => ({ start, end });

function shown(length: number, spans: readonly TextRange[]): readonly string[] {
  return splitIntoSegments(length, spans).map(({ start, end, spans: covering }) =>
    `${start}-${end}: ${covering.map((span) => spans.indexOf(span)).join(' ')}`.trim(),
  );
}

it.each<[string, number, readonly TextRange[], readonly string[]]>([
  ['no span', 3, [], ['0-3:']],
  ['nothing at all', 0, [], []],
  ['all of the text', 3, [at(0, 3)], ['0-3: 0']],
  ['what is between', 9, [at(1, 3), at(3, 5)], ['0-1:', '1-3: 0', '3-5: 1', '5-9:']],
  ['tokens of one character', 4, [at(1, 3), at(1, 3)], ['0-1:', '1-3: 0 1', '3-4:']],
  ['spans that overlap', 6, [at(0, 4), at(2, 6)], ['0-2: 0', '2-4: 0 1', '4-6: 1']],
  ['one within another', 6, [at(2, 3), at(0, 6)], ['0-2: 1', '2-3: 0 1', '3-6: 1']],
  ['a span of nothing', 4, [at(2, 2)], ['0-2:', '2-4:']],
])('cuts a text: %s', (_, length, spans, expected) => {
  expect(shown(length, spans)).toEqual(expected);
});
