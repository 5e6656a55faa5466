'use strict';

// Loaded into a service by scripts/trace-request.mjs (`node --require`): counts function calls on request.
// Message `start`: sets all counters to zero. Message `stop`: replies with the dist/ files that executed functions.
const inspector = require('node:inspector');
const path = require('node:path');
const { fileURLToPath } = require('node:url');

const DIST = path.join(__dirname, '../../dist/');
const session = new inspector.Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Calls `report` with the coverage since the last call. Coverage counters restart at zero. */
function take(report) {
  session.post('Profiler.takePreciseCoverage', (error, { result } = { result: [] }) => {
    if (error) throw new Error(error.message);
    report(result);
  });
}

/** Paths below dist/ of the files in which at least one function other than the module itself ran. */
function executedFiles(coverage) {
  const files = [];
  for (const { url, functions } of coverage) {
    if (!url.startsWith('file:')) continue;
    const file = fileURLToPath(url);
    const isExecuted = functions.some(
      ({ functionName, ranges }, index) =>
        (index > 0 || functionName !== '') && ranges[0].count > 0,
    );
    if (file.startsWith(DIST) && isExecuted) files.push(file.slice(DIST.length));
  }
  return files;
}

process.on('message', (message) => {
  if (message === 'start') take(() => process.send('started'));
  if (message === 'stop') take((coverage) => process.send(executedFiles(coverage)));
});
