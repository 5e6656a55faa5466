/**
 * Lock files, licences and known vulnerabilities of what this is made of.
 *
 * Usage: npm run check:supply-chain [-- [--offline] [--pypi=URL] [FOLDER]]
 *
 * --offline asks no registry for advisories. FOLDER: another tree than this one. A registry that does
 * not answer is said and is no failure; a vulnerability in what ships that is high, critical or not
 * rated by anybody is one, unless ACCEPTED has it.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cargoAdvisories, npmAdvisories, pythonAdvisories } from './supply-chain/advisories.mjs';
import { crates, libraries, npmPackages } from './supply-chain/components.mjs';
import { licenceProblem } from './supply-chain/licences.mjs';
import { lockProblems } from './supply-chain/locks.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Ids of advisories that do not touch what is used here, each with the reason. */
const ACCEPTED = {};

function checkLocks(root) {
  const problems = lockProblems(root);
  if (problems.length === 0)
    console.log('lock files: complete, exact, with a hash for each download');
  return problems;
}

function checkLicences(root) {
  const all = { npm: npmPackages(root), crate: crates(root), library: libraries() };
  const problems = Object.entries(all).flatMap(([what, components]) =>
    components.flatMap((component) => licenceProblem(what, component) ?? []),
  );
  if (problems.length === 0) {
    const counts = Object.entries(all).map(
      ([what, of]) => `${what} ${of.length} (${of.filter(({ ships }) => ships).length} shipped)`,
    );
    console.log(`licences: allowed: ${counts.join(', ')}`);
  }
  return problems;
}

async function checkAdvisories(root, registry) {
  const answers = await Promise.all([
    npmAdvisories(root),
    cargoAdvisories(root),
    pythonAdvisories(root, registry),
  ]);
  for (const line of answers.flatMap(({ unasked }) => unasked)) console.log(`not asked: ${line}`);
  const findings = answers.flatMap((answer) => answer.findings);
  const open = findings.filter(({ id }) => !(id in ACCEPTED));
  const grave = open.filter(isGrave);
  for (const finding of findings.filter((one) => !grave.includes(one))) {
    console.log(
      `known: ${words(finding)}${ACCEPTED[finding.id] ? `: ${ACCEPTED[finding.id]}` : ''}`,
    );
  }
  if (findings.length === 0) console.log('advisories: none known to who was asked');
  return grave.map(
    (finding) =>
      `${words(finding)}; use a version without it, or say in ACCEPTED of scripts/check-supply-chain.mjs why it does no harm`,
  );
}

function isGrave({ ships, severity }) {
  return ships && (severity === null || severity === 'high' || severity === 'critical');
}

function words({ what, name, id, title, severity, ships }) {
  return `${what} ${name}: ${title} (${id}, ${severity ?? 'not rated'}, ${ships ? 'shipped' : 'not shipped'})`;
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { offline: { type: 'boolean' }, pypi: { type: 'string' } },
  });
  const root = path.resolve(positionals[0] ?? ROOT);
  const problems = checkLocks(root);
  // Crates that cargo cannot find have no licences to look at.
  if (problems.length === 0) {
    problems.push(...checkLicences(root));
    if (values.offline) console.log('not asked: advisories (--offline)');
    else problems.push(...(await checkAdvisories(root, values.pypi)));
  }
  for (const problem of problems) console.error(`check:supply-chain: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
} catch (error) {
  console.error(`check:supply-chain: ${error.message}`);
  process.exitCode = 1;
}
