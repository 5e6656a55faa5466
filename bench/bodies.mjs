/**
 * Seeded request bodies, as JSON strings: the same ones for every server and every run.
 *
 * Texts: ordinary review words, lognormal length, median 20 words (sigma 0.5, 1 to 200).
 * Signals: 256 points, Gaussian noise (sd 8 to 15 µV) and an alpha wave (8 to 12 Hz, 5 to 40 µV).
 */
const WORDS =
  `the a an and but because although this that it they we you i my our is was were has had
did not never always often really very quite rather too just only even almost again movie film book
phone camera battery screen hotel room staff food service meal story plot ending actor director scene
music sound picture quality price value money product order refund week month night time minute place
street view breakfast coffee soup table bed kitchen door good great excellent wonderful lovely perfect
brilliant decent fine solid reliable clean friendly helpful fast simple cheap beautiful funny clever
moving bad terrible awful poor dull boring slow broken useless noisy dirty rude cold bland expensive
disappointing annoying weak predictable love loved like enjoyed hate hated dislike recommend avoid buy
bought used tried watched read eat waited stayed expected felt thought found made gave took stopped
returned wasted saved surprised happy sad angry bored tired satisfied without for from of in on at to
by about after before with during over into better worse best worst more less most least first last
another same different little big long short old new one two three every some any all nothing
something everyone however maybe certainly honestly unfortunately usually sometimes`.split(/\s+/);

/** mulberry32: numbers in [0, 1) from a 32-bit seed. */
export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export function wordCount(random) {
  return Math.min(200, Math.max(1, Math.round(20 * Math.exp(0.5 * normal(random)))));
}

export function text(random, count) {
  const words = Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]);
  return words.map((word) => (random() < 0.08 ? `${word}.` : word)).join(' ');
}

function signal(random) {
  const noise = 8 + 7 * random();
  const [amplitude, frequency, phase] = [5 + 35 * random(), 8 + 4 * random(), 6.28 * random()];
  return Array.from({ length: 256 }, (_, i) => {
    const alpha = amplitude * Math.sin((2 * Math.PI * frequency * i) / 95 + phase);
    return Number((alpha + noise * normal(random)).toFixed(3));
  });
}

/** service: 'sentiment' or 'eeg'. */
export function makeBodies(service, count, seed = 1) {
  const random = generator(seed);
  return Array.from({ length: count }, (_, i) =>
    JSON.stringify(
      service === 'eeg'
        ? { signal: signal(random), patient_id: `P${i}` }
        : { text: text(random, wordCount(random)) },
    ),
  );
}

/** Words of a text of about so many tokens: one in twelve has a period, which is a token, and two are special. */
export const wordsOf = (tokens) => Math.round((tokens - 2) / 1.085);

/** One text for each number of words. */
export function makeTexts(wordCounts, seed = 1) {
  const random = generator(seed);
  return wordCounts.map((count) => JSON.stringify({ text: text(random, count) }));
}
