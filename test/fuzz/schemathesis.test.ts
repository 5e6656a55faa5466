import path from 'node:path';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython, runFile } from '../helpers/python';
import { killAll, ROOT, startService } from '../helpers/service';

const FOLDER = path.join(ROOT, 'test', 'schemathesis');
const REQUIREMENTS = path.join(FOLDER, 'requirements.txt');
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

needs('python').describe('Schemathesis', () => {
  let packages: string;

  beforeAll(async () => {
    packages = await installPython('schemathesis', REQUIREMENTS);
  }, INSTALL_MS);

  afterAll(killAll);

  it.each(CASES)(
    'finds nothing in the $name service',
    async ({ name, options }) => {
      const service = await startService(name, options);
      const args = [
        ...['-m', 'schemathesis.cli', '--config-file', path.join(FOLDER, 'schemathesis.toml')],
        ...['run', `${service.origin}/openapi.json`], // all checks, but as the file says
        ...['--seed', '1', '--max-time', String(RUN_SECONDS), '--no-color'],
      ];
      const { stdout } = await runFile('python3', args, {
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
