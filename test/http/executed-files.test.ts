import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../helpers/service';

const run = promisify(execFile);

/** Files of src that one request may execute. Raise a limit only with a reason: a reader has to follow them all. */
test.each([
  ['/analyze', 25],
  ['/v1/embeddings', 34],
])('%s executes at most %d files of src', async (route, limit) => {
  const script = path.join(ROOT, 'scripts/trace-request.mjs');
  const { stdout } = await run(process.execPath, [script, route]);
  const [, ...files] = stdout.trim().split('\n');
  expect(files.length).toBeGreaterThan(10);
  if (files.length > limit) throw new Error(`over the limit of ${limit}: ${stdout}`);
});
