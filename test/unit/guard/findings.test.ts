import { toFindings, toScoredFindings } from '../../../src/tasks/guard/findings';
import type { Check } from '../../../src/tasks/guard/guard-file';
import type { CheckAction, Finding } from '../../../src/tasks/guard/guard-result';
import { type Hit, TextVariant } from '../../../src/tasks/guard/scan';

const CHECK = { name: 'names', action: 'flag' as CheckAction } as Check;

/** Numbers that are the same in each run. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function looksOf(parts: readonly string[]): { alone: readonly TextVariant[]; joined: TextVariant } {
  const native = (part: number) =>
    ({ steps: '', part }) as ConstructorParameters<typeof TextVariant>[0];
  const text = parts.join('');
  return {
    alone: parts.map((_, part) => new TextVariant(native(part), parts)),
    joined: new TextVariant({ steps: 'joined', part: parts.length, text } as never, parts),
  };
}

/** What the highest score alone is, by looking at all pairs. */
function highestAlone(hit: Hit, alone: readonly Finding[]): number | null {
  const places = hit.variant.toOriginalSpans(hit.start, hit.end);
  const over = alone.filter(
    ({ label, part, start, end }) =>
      label === hit.label &&
      places.some(
        (place) =>
          place.part === part && (start ?? 0) < place.end && place.start < (end ?? Infinity),
      ),
  );
  return over.length === 0 ? null : Math.max(...over.map(({ score }) => score));
}

it('tells of all parts together what none of them has alone, as all pairs say it', () => {
  const random = randomFrom(42);
  for (let round = 0; round < 300; round++) {
    const parts = Array.from({ length: 1 + random(4) }, () => 'word '.repeat(1 + random(8)));
    const { alone, joined } = looksOf(parts);
    const hits = Array.from({ length: random(30) }, (): Hit => {
      const look = random(2) === 0 ? joined : (alone[random(alone.length)] as TextVariant);
      const isWhole = random(10) === 0;
      const start = isWhole ? 0 : random(look.text.length);
      const end = isWhole ? look.text.length : start + 1 + random(look.text.length - start);
      return { variant: look, label: 'ab'.charAt(random(2)), score: random(100) / 100, start, end };
    });
    const own = toFindings(
      CHECK,
      hits.filter(({ variant: look }) => look.part !== null),
    );
    const together = hits.filter(({ variant: look }) => look.part === null);
    const expected = together.flatMap((hit) => {
      const found = toFindings(CHECK, [hit]);
      return found.map((one) => ({ ...one, singlePartScore: highestAlone(hit, own) }));
    });
    expect(toScoredFindings(CHECK, hits)).toEqual([
      ...own.map((one) => ({ ...one, singlePartScore: null })),
      ...expected,
    ]);
    const kept = together.filter((hit) => highestAlone(hit, own) === null);
    expect(toFindings(CHECK, hits)).toEqual([...own, ...toFindings(CHECK, kept)]);
  }
});

/** Milliseconds of the fastest of some runs. */
function fastest(run: () => void): number {
  const times = Array.from({ length: 3 }, () => {
    const begun = performance.now();
    run();
    return performance.now() - begun;
  });
  return Math.min(...times);
}

it.each([
  ['words of two parts', (words: number) => Array(2).fill('word '.repeat(words / 2))],
  ['words that are parts', (words: number) => Array(words).fill('word ')],
])('takes time in proportion to the hits: %s', (_, partsOf) => {
  const time = (words: number): number => {
    const parts = partsOf(words) as string[];
    const { alone, joined } = looksOf(parts);
    const wordsOf = (look: TextVariant): Hit[] =>
      Array.from({ length: look.text.length / 5 }, (_, index) => ({
        variant: look,
        label: 'word',
        score: 0.5,
        start: 5 * index,
        end: 5 * index + 4,
      }));
    const hits = [...alone, joined].flatMap(wordsOf);
    return fastest(() => {
      toFindings(CHECK, hits);
      toScoredFindings(CHECK, hits);
    });
  };
  time(500); // compiled
  // 8 times the hits: all pairs would take 64 times as long.
  expect(time(4000) / time(500)).toBeLessThan(32);
});
