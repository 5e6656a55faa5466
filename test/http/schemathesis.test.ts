import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { killAll, ROOT, startService } from '../helpers/service';

const run = promisify(execFile);

const FOLDER = path.join(ROOT, 'test', 'schemathesis');
const REQUIREMENTS = path.join(FOLDER, 'requirements.txt');
const INSTALL_MS = 180_000;
/** Of one service. Coverage of the schemas takes some seconds, the rest is random. */
const RUN_SECONDS = 30;

const CASES = [
  { name: 'sentiment', options: {} },
  // The longest list that the schema allows has 2 MB.
  {
    name: 'eeg',
    options: { cwd: path.join(ROOT, 'models', 'eeg'), env: { BODY_LIMIT: '4mb' } },
  },
] as const;

const missing = spawnSync('python3', ['-m', 'pip', '--version']).status !== 0;
if (missing) {
  console.warn('SKIPPED: Schemathesis needs Python 3 with pip (Debian: python3 python3-pip)');
}

/** Installs the pinned packages into build/, once, and returns the folder. */
async function install(): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
  const target = path.join(ROOT, 'build', `schemathesis-${hash}`);
  if (existsSync(target)) return target;
  const partial = `${target}.partial`;
  rmSync(partial, { recursive: true, force: true });
  const pip = ['-m', 'pip', 'install', '--quiet', '--require-hashes', '--only-binary=:all:'];
  const args = [...pip, '--target', partial, '--requirement', REQUIREMENTS];
  await run('python3', args, { timeout: INSTALL_MS });
  renameSync(partial, target); // only when it is whole
  return target;
}

(missing ? describe.skip : describe)('Schemathesis', () => {
  let packages: string;

  beforeAll(async () => {
    packages = await install();
  }, INSTALL_MS);

  afterAll(killAll);

  it.each(CASES)(
    'finds nothing in the $name service',
    async ({ name, options }) => {
      const service = await startService(name, options);
      const args = [
        ...['-m', 'schemathesis.cli', '--config-file', path.join(FOLDER, 'schemathesis.toml')],
        ...['run', `${service.origin}/openapi.json`, '--checks', 'all'],
        ...['--seed', '1', '--max-time', String(RUN_SECONDS), '--no-color'],
      ];
      const { stdout } = await run('python3', args, {
        cwd: path.join(ROOT, 'build'), // it leaves files
        env: { ...process.env, PYTHONPATH: packages },
      }).catch((error: { stdout: string; stderr: string }) => {
        // A request in it may be as long as a body.
        const lines = `${error.stdout}${error.stderr}`.split('\n');
        throw new Error(lines.map((line) => line.slice(0, 300)).join('\n'));
      });
      expect(stdout).toMatch(/Operations: +(\d+) selected \/ \1 total/);
      expect(stdout).toMatch(/No issues found/);
      expect(await service.stop()).toEqual({ code: 0, signal: null });
    },
    (RUN_SECONDS + 120) * 1000,
  );
});
