/**
 * What a list of texts takes by how many it has, asked one list after the other: ms (mean), the median over the rounds;
 * with another built checkout beside it, in turn.
 *
 *   node bench/lists.mjs [OTHER_CHECKOUT] [--model sentiment] [--tokens 23] [--sizes 1,2,4,8,16,32] [--format float32]
 *     [--rounds 3] [--seconds 1] [--python …]
 *
 * Needs a built service (npm run build). The model and the formats: of families.mjs.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeTexts, wordsOf } from './bodies.mjs';
import { makeModel } from './families/sides.mjs';
import { ROOT } from './paths.mjs';
import { inTurn, median } from './report.mjs';
import { setUp } from './setup.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: 'string', default: 'sentiment' },
    tokens: { type: 'string', default: '23' },
    sizes: { type: 'string', default: '1,2,4,8,16,32' },
    format: { type: 'string', default: 'float32' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '1' },
    python: { type: 'string' },
  },
});
const isShipped = options.model === 'sentiment';
const python = isShipped ? '' : setUp({ python: options.python, encoders: true });
const folder = makeModel(options.model, python);
const sizes = options.sizes.split(',').map(Number);
const words = wordsOf(Number(options.tokens));
const textsOf = (count) => makeTexts(Array(count).fill(words)).map((body) => JSON.parse(body).text);
const texts = Object.fromEntries(sizes.map((size) => [size, textsOf(size)]));
const input = JSON.stringify({ texts, samples: textsOf(1), seconds: Number(options.seconds) });

/** ms of a list of each size. */
function measure(root) {
  const script = path.join(root, 'bench/families/ours.mjs');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [script, options.format, path.resolve(folder)],
    { input, encoding: 'utf8', maxBuffer: 2 ** 28 },
  );
  if (status !== 0) throw new Error(`${root}: ${stderr}`);
  const { figures } = JSON.parse(stdout.trim().split('\n').at(-1));
  return sizes.map((size) => (1000 * size) / figures[size].texts_per_s);
}

const roots = [ROOT, ...positionals.map((folder) => path.resolve(folder))];
const rounds = await inTurn(roots, Number(options.rounds), measure);
console.table(
  Object.fromEntries(
    sizes.map((size, index) => {
      const ofSide = roots.map((_, side) => median(rounds.map((round) => round[side][index])));
      const cells = Object.fromEntries(
        ofSide.map((ms, side) => [side ? 'the other' : 'ms', Number(ms.toPrecision(3))]),
      );
      const ratios = rounds.map((round) => round[1]?.[index] / round[0][index]);
      return [
        size,
        roots.length > 1 ? { ...cells, ratio: Number(median(ratios).toFixed(2)) } : cells,
      ];
    }),
  ),
);
