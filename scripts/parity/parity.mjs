/**
 * Compares the answers of this server with those of transformers, or of sentence-transformers, for one
 * model directory: labels, spans, vectors, weights of words, or scores of pairs, as its task is.
 *
 * Usage: npm run parity -- DIR [--texts FILE] [--prompt NAME]
 * FILE: UTF-8, one text a line. NAME: prompt of an embedding model; query or document of a ColBERT model.
 * PYTHON names a Python with torch, transformers and sentence-transformers (default: python3).
 * Exit code: 0 they agree; 1 they differ; 2 they could not be compared.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { kindOf, PromptError } from './kinds.mjs';
import { TEXTS } from './texts.mjs';

/** Largest difference of two logits, relative to the text's largest one where that is over 1; of two scores of spans. */
const TOLERANCE = 2e-5;
const SHOWN = 20;
const HERE = path.dirname(fileURLToPath(import.meta.url));
const TASKS = path.join(HERE, '../../dist/tasks');
const USAGE = 'usage: npm run parity -- DIR [--texts FILE] [--prompt NAME]';

/** Something the user can mend: shown without a stack. */
class ParityError extends Error {}

async function main() {
  const { directory, texts, prompt } = readArguments();
  const ours = await ourAnswers(directory, texts, prompt);
  const { kind, limit } = ours;
  const theirs = referenceAnswers({ directory, texts, limit, task: kind.name, prompt });
  const rows = texts.map((text, i) => compare(kind, text, ours.answers[i], theirs.answers[i]));
  report(rows, theirs.versions);
  process.exitCode = rows.some((row) => row.problem) ? 1 : 0;
}

function readArguments() {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: { texts: { type: 'string' }, prompt: { type: 'string' } },
    });
  } catch (error) {
    throw new ParityError(`${error.message}\n${USAGE}`);
  }
  const [directory, ...others] = parsed.positionals;
  if (!directory || others.length > 0) throw new ParityError(USAGE);
  return {
    directory: path.resolve(directory),
    texts: parsed.values.texts ? readTexts(parsed.values.texts) : TEXTS,
    prompt: parsed.values.prompt,
  };
}

function readTexts(file) {
  let lines;
  try {
    lines = readFileSync(file, 'utf8').split(/\r?\n/);
  } catch (error) {
    throw new ParityError(`--texts: ${error.message}`);
  }
  const texts = lines.filter((line) => line.trim() !== '');
  if (texts.length === 0) throw new ParityError(`--texts: ${file} holds no text`);
  return texts;
}

/** All texts at once, so that they share batches as the texts of real clients do. */
async function ourAnswers(directory, texts, prompt) {
  if (!existsSync(TASKS)) throw new ParityError('not built yet: npm run build');
  const require = createRequire(import.meta.url);
  const { TaskModel } = require(path.join(TASKS, 'task-model.js'));
  const kind = kindOf(directory, { require, tasks: TASKS, prompt });
  if (prompt !== undefined && !kind.name.endsWith('embedding')) {
    throw new ParityError(`--prompt: expected an embedding model, got ${kind.name}`);
  }
  let model;
  try {
    model = await TaskModel.load(kind.task, directory, {
      workers: 2,
      threadsPerWorker: 1,
      maxBatchTokens: 4096,
      maxBatchRequests: 32,
      maxQueueDelayMs: 0,
      maxQueueRequests: texts.length,
      maxQueueWaitMs: 600_000,
      inferenceTimeoutMs: 600_000,
    });
  } catch (error) {
    throw new ParityError(`this server cannot load the model: ${error.message}`);
  }
  try {
    const answers = await Promise.all(texts.map((text) => kind.run(model, text)));
    return { kind, limit: model.maxLength, answers };
  } catch (error) {
    throw error instanceof PromptError ? new ParityError(error.message) : error;
  } finally {
    await model.close();
  }
}

function referenceAnswers(request) {
  const python = process.env.PYTHON || 'python3';
  const install = `${python} -m pip install torch transformers sentence-transformers`;
  const run = spawnSync(python, [path.join(HERE, 'reference.py')], {
    input: JSON.stringify(request),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  if (run.error) {
    throw new ParityError(
      `${python} cannot be started (${run.error.code}). The comparison needs Python with torch and ` +
        `transformers: install them (${install}), or name another Python in PYTHON`,
    );
  }
  if (run.status !== 0) {
    throw new ParityError(`transformers cannot answer:\n${run.stderr.trim()}`);
  }
  const answer = JSON.parse(run.stdout);
  if (answer.missing) {
    throw new ParityError(
      `${python} has no ${answer.missing}. Install what the comparison needs (${install}), or name ` +
        'another Python in PYTHON',
    );
  }
  return answer;
}

function compare(kind, text, ours, theirs) {
  const difference = kind.difference(ours, theirs);
  return {
    text,
    tokens: ours.inference.tokens,
    label: ours.label,
    difference,
    problem: problemOf(kind, ours, theirs, difference),
  };
}

/** Empty when the two agree. */
function problemOf(kind, ours, theirs, difference) {
  if (theirs.tokens !== null && ours.inference.tokens !== theirs.tokens)
    return `tokens: ${theirs.tokens} there`;
  if (theirs.label !== null && ours.label !== theirs.label) return `label: ${theirs.label} there`;
  if (!(difference <= TOLERANCE)) return kind.differs; // also when one is NaN
  return '';
}

function report(rows, versions) {
  const sorted = [...rows].sort(
    (a, b) => Number(b.problem !== '') - Number(a.problem !== '') || b.difference - a.difference,
  );
  console.log('difference  tokens  label                 text');
  for (const { text, tokens, label, difference, problem } of sorted.slice(0, SHOWN)) {
    const shown = JSON.stringify([...text].slice(0, 40).join(''));
    const columns = [
      difference.toExponential(1).padEnd(10),
      String(tokens).padStart(6),
      label.padEnd(20),
      shown,
    ];
    console.log(columns.join('  ') + (problem && `  <- ${problem}`));
  }
  if (rows.length > SHOWN) console.log(`and ${rows.length - SHOWN} more, closer than these`);
  const largest = Math.max(...rows.map(({ difference }) => difference));
  const failed = rows.filter(({ problem }) => problem).length;
  const reference = Object.entries(versions)
    .map((of) => of.join(' '))
    .join(', ');
  console.log(
    `${rows.length} texts, ${failed} differ from ${reference}; ` +
      `largest difference ${largest.toExponential(1)}, allowed ${TOLERANCE.toExponential(0)}`,
  );
}

try {
  await main();
} catch (error) {
  if (!(error instanceof ParityError)) throw error;
  console.error(`parity: ${error.message}`);
  process.exitCode = 2;
}
