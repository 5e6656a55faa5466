/** Seeded request bodies for encoders, as JSON strings, of the words of bodies.mjs. */
import { generator, normal, text, wordCount } from '../bodies.mjs';

const many = (count, make) => Array.from({ length: count }, (_, i) => make(i));

/** One text each: 20 words in the median. */
export function sentences(count) {
  const random = generator(1);
  return many(count, () => JSON.stringify({ inputs: text(random, wordCount(random)) }));
}

/** Lists of such texts. */
export function lists(count, length) {
  const random = generator(2);
  return many(count, () =>
    JSON.stringify({ inputs: many(length, () => text(random, wordCount(random))) }),
  );
}

/** Texts to embed of so many tokens. */
export function longTexts(count, tokens) {
  return ofTokens(count, tokens).map((each) => JSON.stringify({ inputs: each }));
}

/** A query of 8 words, and documents of about 100 tokens: of 90 words in the median (sigma 0.2). */
export function documents(count, length) {
  const random = generator(3);
  const document = () => text(random, Math.round(90 * Math.exp(0.2 * normal(random))));
  return many(count, () =>
    JSON.stringify({ query: text(random, 8), texts: many(length, document), raw_scores: true }),
  );
}

/** A full stop is one; of the words all are one, but this one. */
const tokensOf = (word) => 1 + word.endsWith('.') + word.startsWith('refund');

/** Texts to tag of so many tokens. */
export function textsOfTokens(count, tokens) {
  return ofTokens(count, tokens).map((each) =>
    JSON.stringify({ text: each, aggregation_strategy: 'none' }),
  );
}

/** The same for a guard. */
export function guarded(count, tokens) {
  return ofTokens(count, tokens).map((each) => JSON.stringify({ text: each }));
}

/** Texts of so many tokens, or one fewer, with the two special ones. */
function ofTokens(count, tokens) {
  const random = generator(4);
  return many(count, () => {
    let used = 2;
    const words = text(random, tokens)
      .split(' ')
      .filter((word) => {
        used += tokensOf(word);
        return used <= tokens;
      });
    return words.join(' ');
  });
}

/** What the ranges of activations are taken from, where a peer quantizes them: other texts of the same kind. */
export function calibration(service) {
  const random = generator(5);
  const sentence = () => text(random, wordCount(random));
  if (service === 'embedding') return many(300, sentence);
  if (service === 'reranking') return many(300, () => [text(random, 8), text(random, 90)]);
  return many(100, () => text(random, 120));
}
