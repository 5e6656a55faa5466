/**
 * What a check of a guard takes that has been asked before (RESULT_CACHE_MB), in a program and over HTTP, beside one
 * that has not; and how much of a new one is tokenization, which models that read alike could share. Patterns and the
 * shipped model, one client, medians.
 *
 *   node bench/guard-again.mjs [--runs 30]
 *
 * Needs a build (npm run build).
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Guard } from '../dist/index.js';
import { generator, text as makeText } from './bodies.mjs';
import { Connection, prepareRequest } from './load.mjs';
import { describeMachine, machineType } from './machine.mjs';
import { MODELS, ROOT } from './paths.mjs';
import { median } from './report.mjs';
import { freePort, startProcess } from './servers.mjs';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '30' } } });
const runs = Number(values.runs);
const KEPT = 64;
/** The last is read in windows. */
const CHARACTERS = [300, 600, 3000];
const model = path.join(MODELS, 'sentiment');
const file = {
  checks: [
    { type: 'patterns', name: 'data', action: 'redact', kinds: ['email', 'card', 'iban'] },
    {
      ...{ type: 'text-classification', name: 'tone', model: 'sentiment', action: 'flag' },
      labels: { NEGATIVE: 0.9 },
    },
  ],
};

const random = generator(1);
/** Each is another. */
const textOf = (characters) => makeText(random, characters).slice(0, characters);

async function timesOf(count, ask) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const begun = performance.now();
    await ask(i);
    times.push(performance.now() - begun);
  }
  return times;
}

async function inProgram(characters) {
  const guard = await Guard.load({ file, models: { sentiment: model }, resultCacheMb: KEPT });
  try {
    const [tokens, tokenization] = [[], []];
    const check = async (text) => {
      const { inferences } = await guard.check(text);
      const sum = (of) => inferences.reduce((all, one) => all + of(one), 0);
      tokens.push(sum((one) => one.tokens));
      tokenization.push(sum((one) => one.tokenizationMs));
    };
    for (let i = 0; i < 5; i++) await check(textOf(characters));
    const texts = Array.from({ length: runs }, () => textOf(characters));
    const fresh = await timesOf(runs, (i) => check(texts[i]));
    const [ofTokens, ofTokenization] = [median(tokens), median(tokenization)];
    const again = await timesOf(20 * runs, (i) => check(texts[i % runs]));
    return { fresh: median(fresh), again: median(again), ofTokens, ofTokenization };
  } finally {
    await guard.close();
  }
}

async function overHttp(characters) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'guard-again-'));
  const directory = path.join(folder, 'models');
  fs.cpSync(model, path.join(directory, 'sentiment'), { recursive: true });
  fs.writeFileSync(path.join(directory, 'guard.json'), JSON.stringify(file));
  const port = await freePort();
  const own = { HOST: '127.0.0.1', PORT: String(port), RESULT_CACHE_MB: String(KEPT) };
  const run = [process.execPath, path.join(ROOT, 'dist/main.js'), 'models', directory];
  const server = startProcess(run, {
    cwd: folder,
    env: { ...process.env, ...own },
    stdio: 'ignore',
  });
  const connection = new Connection(port);
  try {
    /** What went wrong; null: nothing. The model is loaded while the service answers. */
    const problemOf = async (text) => {
      const body = JSON.stringify({ text });
      const answer = await connection.ask(prepareRequest('/guard', body));
      const isGood = answer.status === 200 && JSON.parse(answer.body).errors.length === 0;
      return isGood ? null : `${answer.status}: ${answer.body}`;
    };
    const ask = async (text) => {
      const problem = await problemOf(text);
      if (problem) throw new Error(problem);
    };
    for (let i = 0; (await problemOf('A film.')) !== null; i++) {
      if (i === 300) throw new Error('the service does not answer');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    for (let i = 0; i < 5; i++) await ask(textOf(characters));
    const texts = Array.from({ length: runs }, () => textOf(characters));
    const fresh = await timesOf(runs, (i) => ask(texts[i]));
    const again = await timesOf(20 * runs, (i) => ask(texts[i % runs]));
    return { fresh: median(fresh), again: median(again) };
  } finally {
    connection.close();
    await server.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

console.log(machineType(describeMachine()));
const rows = {};
for (const characters of CHARACTERS) {
  const own = await inProgram(characters);
  const http = await overHttp(characters);
  rows[`${characters} characters`] = {
    tokens: own.ofTokens,
    'new, ms': own.fresh.toFixed(2),
    'again, ms': own.again.toFixed(3),
    'tokenization, ms': own.ofTokenization.toFixed(3),
    'of a new one, %': ((100 * own.ofTokenization) / own.fresh).toFixed(1),
    'HTTP: new, ms': http.fresh.toFixed(2),
    'HTTP: again, ms': http.again.toFixed(3),
  };
}
console.table(rows);
