/**
 * What a guard's patterns and views of a text cost, without models: the time of a check, with and without views,
 * of texts that hide nothing and of texts that hide much; longest places on the event loop beside it.
 *
 *   node bench/guard-looks.mjs [--characters 1048576] [--runs 5]
 *
 * Needs a build (npm run build).
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { Guard } from '../dist/index.js';
import { describeMachine } from './machine.mjs';
import { median } from './report.mjs';

const { values } = parseArgs({
  options: {
    characters: { type: 'string', default: String(2 ** 20) },
    runs: { type: 'string', default: '5' },
  },
});
const characters = Number(values.characters);
const PROSE =
  'The table has four legs, and stands in the kitchen of a house that was built in 1950. ';
const repeated = (text, length = characters) =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);

const TEXTS = {
  '300 characters of prose': repeated(PROSE, 300),
  prose: repeated(PROSE),
  'prose, a character of no width behind each': repeated([...PROSE].join('\u200b')),
  'prose with Cyrillic and full-width letters': repeated(
    PROSE.replaceAll('a', '\u0430').replaceAll('e', '\uff45'),
  ),
  'prose in base64': repeated(Buffer.from(repeated(PROSE)).toString('base64')),
  'numbers that are no cards': repeated('4111 1111 1111 1112 '),
};
const check = {
  ...{ type: 'patterns', name: 'data', action: 'flag' },
  kinds: ['email', 'card', 'iban', 'ip', 'phone', 'url'],
};
const guards = {
  patterns: await Guard.load({ file: { checks: [{ ...check, variants: [] }] } }),
  'and views': await Guard.load({ file: { checks: [check] } }),
};

console.log(describeMachine());
console.log(`${'ms, median of a check'.padEnd(46)}patterns  and views  longest stall`);
for (const [name, text] of Object.entries(TEXTS)) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const told = [];
  for (const guard of Object.values(guards)) {
    const times = [];
    for (let run = 0; run < Number(values.runs) + 1; run++) {
      const begun = performance.now();
      await guard.check(text);
      if (run > 0) times.push(performance.now() - begun);
    }
    told.push(median(times).toFixed(2));
  }
  delay.disable();
  const stall = (delay.max / 1e6).toFixed(0);
  console.log(
    `${name.padEnd(46)}${told[0].padStart(8)}${told[1].padStart(11)}${stall.padStart(15)}`,
  );
}
