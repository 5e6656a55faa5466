import path from 'node:path';
import { killAll, NodeProcess } from '../helpers/service';

const SCRIPT = path.join(__dirname, 'scripts', 'engine.cjs');

afterAll(killAll);

/** [way, exit code, standard output]; a crash would be a signal instead of a code. */
it.each([
  ['drained-loop', 0, ''],
  ['closed', 0, 'DRAINING\n'],
  ['exit-idle', 0, ''],
  ['exit-with-work-in-flight', 7, ''],
  ['exit-during-load', 8, ''],
  ['uncaught-exception', 1, ''],
  ['unhandled-rejection', 1, ''],
  ['two-engines', 0, 'answered\n'],
  ['terminated-workers', 0, 'answered\n'],
  ['worker-that-ends', 0, ''],
])('a process that ends by %s has exit code %d', async (way, code, stdout) => {
  const process_ = new NodeProcess({ script: SCRIPT, args: [way] });
  const exit = await process_.exit;
  expect({ ...exit, stdout: process_.stdout }).toEqual({ code, signal: null, stdout });
  // Only what Node itself prints of an error that nobody caught.
  expect(process_.stderr).toMatch(code === 1 ? /Error: nobody (catches|handles) this/ : /^$/);
});
