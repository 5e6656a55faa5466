import { normal, seededRandom } from '../helpers/random';
import type { ServiceName } from './endings';

/** A request, and the status that its answer has. */
export interface Asked {
  readonly path: string;
  readonly body: string;
  readonly status: number;
}

const WORDS =
  'the a and but not never very quite movie film plot ending actor hotel room food was is great dull lovely broken 東京 naïve café 👍 1984 ---'.split(
    ' ',
  );

/** Seeded texts of 1 to 400 words, most of them short: lognormal, median 12. */
export function makeTexts(count: number, seed: number): readonly string[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const words = Math.min(400, Math.max(1, Math.round(12 * Math.exp(0.8 * normal(random)))));
    return Array.from({ length: words }, () => WORDS[Math.floor(random() * WORDS.length)]).join(
      ' ',
    );
  });
}

/** Seeded windows of 256 samples: a wave of 8 to 12 Hz at 95 Hz, and noise. */
export function makeSignals(count: number, seed: number): readonly (readonly number[])[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const [amplitude, step] = [5 + 35 * random(), (2 * Math.PI * (8 + 4 * random())) / 95];
    return Array.from({ length: 256 }, (_, i) =>
      Number((amplitude * Math.sin(step * i) + 10 * normal(random)).toFixed(2)),
    );
  });
}

/** Single requests; every 20th a list of 10, every 20th one that is refused. */
export function makeRequests(name: ServiceName, count: number, seed: number): readonly Asked[] {
  const [route, field, inputs] =
    name === 'sentiment'
      ? ['/analyze', 'text', makeTexts(count + 10, seed)]
      : ['/predict', 'signal', makeSignals(count + 10, seed)];
  return inputs.slice(0, count).map((input, i) => {
    if (i % 20 === 7) {
      const body = JSON.stringify({ [`${field}s`]: inputs.slice(i, i + 10) });
      return { path: `${route}/batch`, body, status: 200 };
    }
    if (i % 20 === 13) return { path: route, body: JSON.stringify({ [field]: 5 }), status: 422 };
    return { path: route, body: JSON.stringify({ [field]: input }), status: 200 };
  });
}
