import path from 'node:path';
import { killAll, NodeProcess } from '../helpers/service';

const SCRIPT = path.join(__dirname, 'scripts', 'engine.cjs');

afterAll(killAll);

/** [what, standard output]; the ways in which a process ends are walked in test/soak. */
it.each([
  ['closed', 'DRAINING\n'],
  ['two-engines', 'answered\n'],
  ['terminated-workers', 'answered\n'],
  ['worker-that-ends', ''],
])('a process with %s ends with 0', async (what, stdout) => {
  const process_ = new NodeProcess({ script: SCRIPT, args: [what] });
  const exit = await process_.exit;
  expect({ ...exit, stdout: process_.stdout }).toEqual({ code: 0, signal: null, stdout });
  expect(process_.stderr).toBe('');
});
