/**
 * Known vulnerabilities of what this is made of, by those who can be asked: the npm registry (npm
 * audit), the RustSec database (cargo audit, where it is installed), PyPI.
 *
 * Each of these resolves to { findings, unasked }: findings are { what, name, id, title, severity (null
 * where nobody rated it), ships }; unasked are lines that say which question has no answer, and why.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { crates, IN_THE_PAGES, npmPackages, requirements, wheels } from './components.mjs';
import { requirementFiles } from './locks.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const LIMIT_MS = 25_000;

/** Runs to its end or the limit; resolves with { code, stdout, stderr }, code null if it could not run. */
function output(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...options,
      timeout: LIMIT_MS,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const text = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) {
      child[name].setEncoding('utf8').on('data', (chunk) => {
        text[name] += chunk;
      });
    }
    child.on('error', (error) => resolve({ code: null, stdout: '', stderr: error.message }));
    child.on('close', (code) => resolve({ code, ...text }));
  });
}

const unasked = (...lines) => ({ findings: [], unasked: lines });

/** Of package-lock.json. npm takes its registry from its own settings. */
export async function npmAdvisories(root) {
  const args = ['audit', '--json', '--package-lock-only', '--fetch-retries=0', '--loglevel=silent'];
  const { stdout, stderr } = await output('npm', args, { cwd: root });
  let report;
  try {
    report = JSON.parse(stdout);
  } catch {
    return unasked(`npm audit: ${stderr.trim().split('\n')[0] || 'no answer'}`);
  }
  if (!report.vulnerabilities) {
    return unasked(
      `npm audit: ${report.error?.summary || report.message || 'the registry did not answer'}`,
    );
  }
  const shipped = new Set(
    npmPackages(root)
      .filter((entry) => entry.ships)
      .map((entry) => entry.key),
  );
  const findings = Object.values(report.vulnerabilities).flatMap(({ name, via, nodes }) =>
    via
      .filter((advisory) => typeof advisory === 'object') // a name: an advisory of a dependency of its own
      .map(({ url, title, severity }) => ({
        what: 'npm',
        name,
        id: url,
        title,
        severity,
        ships: IN_THE_PAGES.includes(name) || nodes.some((key) => shipped.has(key)),
      })),
  );
  return { findings, unasked: [] };
}

/** Advisories for the crates of native/Cargo.lock. RUSTSEC_DB names a folder with the advisory database, for offline use. */
export async function cargoAdvisories(root) {
  const folder = path.join(root, 'native');
  const database = process.env.RUSTSEC_DB;
  const args = ['audit', '--json', '--file', path.join(folder, 'Cargo.lock')];
  if (database) args.push('--db', path.resolve(database), '--no-fetch');
  const { stdout, stderr } = await output('cargo', args, { cwd: folder });
  let report;
  try {
    report = JSON.parse(stdout);
  } catch {
    if (/no such command/.test(stderr)) {
      return unasked('cargo audit: not installed (cargo install cargo-audit --locked)');
    }
    return unasked(`cargo audit: ${stderr.trim().split('\n').at(-1) || 'no answer'}`);
  }
  const linked = new Set(
    crates(root)
      .filter((crate) => crate.ships)
      .map((crate) => `${crate.name} ${crate.version}`),
  );
  // Unmaintained crates and the like are warnings of cargo audit's, and no vulnerabilities.
  const findings = report.vulnerabilities.list.map(({ advisory, package: crate }) => ({
    what: 'crate',
    name: crate.name,
    id: advisory.id,
    title: advisory.title,
    severity: null, // a CVSS vector at best
    ships: linked.has(`${crate.name} ${crate.version}`),
  }));
  return { findings, unasked: [] };
}

/**
 * Of the wheels of LibTorch, which ship, and of every requirements file.
 *
 * @param registry another one than pip's
 */
export async function pythonAdvisories(root, registry) {
  const shipped = new Set(wheels(root).map(({ name, version }) => `${name}==${version}`));
  const others = requirementFiles(root).flatMap((name) =>
    requirements(path.join(root, name)).map(({ name, version }) => `${name}==${version}`),
  );
  const pins = [...new Set([...shipped, ...others])];
  const options = registry ? [`--registry=${registry}`] : [];
  const script = path.join(HERE, 'advisories.py');
  const { code, stdout, stderr } = await output('python3', [script, ...options, ...pins], {});
  if (code !== 0)
    return unasked(`PyPI: ${stderr.trim().split('\n').at(-1) || 'no answer in time'}`);
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const findings = answers.flatMap(({ name, version, advisories = [] }) =>
    advisories.map(({ id, summary }) => ({
      what: 'PyPI',
      name,
      id,
      title: summary,
      severity: null,
      ships: shipped.has(`${name}==${version}`),
    })),
  );
  const reasons = new Set(answers.flatMap((answer) => answer.unasked ?? []));
  const lines = [...reasons].map((reason) => {
    const of = answers.filter((answer) => answer.unasked === reason);
    return `PyPI: ${of.map(({ name, version }) => `${name} ${version}`).join(', ')}: ${reason}`;
  });
  return { findings, unasked: lines };
}
