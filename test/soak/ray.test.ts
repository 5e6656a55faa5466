import { spawn } from 'node:child_process';
import path from 'node:path';
import { needs } from '../helpers/needs';
import { INSTALL_MS, installPython } from '../helpers/python';
import { FIXTURES, ROOT } from '../helpers/service';
import { budgeted, report } from './budget';

const FOLDER = path.join(ROOT, 'examples', 'ray');
const ROWS = budgeted({ ci: 2_000, standard: 20_000, long: 1_000_000 });
/** A cluster of three nodes alone takes 10 s on two quiet cores. */
const RUN_MS = budgeted({ ci: 600_000, standard: 1_800_000, long: 36_000_000 });

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** In the end it stops what it has started, on SIGTERM too. */
function demo(args: readonly string[], packages: string): Promise<Ended> {
  const child = spawn('python3', [path.join(FOLDER, 'demo.py'), ...args], {
    env: { ...process.env, PYTHONPATH: packages },
  });
  running.add(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      running.delete(child);
      resolve({ code, stdout, stderr });
    });
  });
}

const running = new Set<ReturnType<typeof spawn>>();

afterAll(() => {
  for (const child of running) child.kill('SIGTERM');
});

needs('python', 'nginx').describe('examples/ray', () => {
  let packages: string;

  beforeAll(async () => {
    packages = await installPython('ray', path.join(FOLDER, 'requirements.txt'));
  }, INSTALL_MS);

  it(
    'labels every row once, as one replica does, while a replica is killed',
    async () => {
      const model = path.join(FIXTURES, 'models', 'bert-single-label');
      const args = ['--rows', String(ROWS), '--model', model];
      const { code, stdout, stderr } = await demo(args, packages);
      if (code !== 0) throw new Error(`ended with ${code}: ${stdout}${stderr}`);
      const told = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
      report('examples/ray', told);
      expect(told).toMatchObject({ rows: ROWS, wrong: [] });
    },
    RUN_MS,
  );
});
