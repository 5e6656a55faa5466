/**
 * What it costs to look who asks, and how deep a body is nested, in µs: the best of some rounds.
 *
 *   node bench/access.mjs
 *
 * Needs `npm run build:ts`.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { ROOT } from './paths.mjs';

const require = createRequire(import.meta.url);
const { Access, UNLIMITED } = require(path.join(ROOT, 'dist/serving/access.js'));
const { ApiKeys, bearerKeyOf, digestOf } = require(
  path.join(ROOT, 'dist/serving/credentials/api-keys.js'),
);
const { isTooDeep } = require(path.join(ROOT, 'dist/serving/json.js'));

const MEBIBYTE = 1024 ** 2;
const ROUNDS = 50;

/** Short rounds, of which one is likely to have had the core for itself. */
function best(count, run) {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let i = 0; i < count; i++) run(i);
    least = Math.min(least, performance.now() - start);
  }
  return ((1000 * least) / count).toFixed(1);
}

const names = ['Host', 'User-Agent', 'Accept', 'Content-Type', 'Content-Length', 'X-Request-Id'];
const rawHeaders = names.flatMap((name) => [name, 'some value']);
for (const count of [1, 100, 1000]) {
  const known = Array.from({ length: count }, (_, i) => digestOf(`a-key-of-the-benchmark-${i}`));
  const keys = new ApiKeys(known.map((digest) => ({ digest, grant: UNLIMITED })));
  const micros = best(Math.ceil(1000 / count), (i) => {
    const authorization = `Bearer a-key-of-the-benchmark-${i}`;
    const headers = { authorization };
    keys.find(
      bearerKeyOf({ headers, rawHeaders: [...rawHeaders, 'Authorization', authorization] }),
    );
  });
  console.log(`a request, ${count} keys: ${micros}`);
}

for (const count of [1, 100]) {
  const models = Array.from({ length: count }, (_, i) => `model-${i}`);
  const micros = best(1000, () =>
    new Access({ models, isManaging: false }, (name) => [name]).refusal({ model: 'model-0' }),
  );
  console.log(`a key for ${count} models: ${micros}`);
}

const half = MEBIBYTE / 2;
const bodies = {
  'numbers, 1 MiB': `[${'0.1234,'.repeat(MEBIBYTE / 7)}1]`,
  'windows, 1 MiB': JSON.stringify({ signals: Array(460).fill(Array(256).fill(-1.2345678)) }),
  'a window, 2.5 kB': JSON.stringify({ signal: Array(256).fill(-1.2345678) }),
  'a text, 1 MiB': JSON.stringify({ text: 'It was good. '.repeat(MEBIBYTE / 13) }),
  'a text, 100 bytes': JSON.stringify({ text: 'x'.repeat(89) }),
  'brackets, 1 MiB': '['.repeat(half) + ']'.repeat(half),
};
for (const [name, text] of Object.entries(bodies)) {
  const bytes = Buffer.from(text);
  const count = bytes.length > 10_000 ? 1 : 1000;
  const parsed = best(count, () => JSON.parse(text));
  console.log(`${name}: parsed ${parsed}, looked at first ${best(count, () => isTooDeep(bytes))}`);
}
