// An error of the callback that is told of responses must not keep the engine from being closed, nor the
// process from ending. Node reports it as a warning.
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..', '..', '..');
const { addon } = require(path.join(ROOT, 'dist', 'native', 'addon.js'));
const SCHEDULING = require('../../helpers/scheduling.json');

async function main() {
  const source = { type: 'signal-program', path: process.argv[2], windowLength: 256 };
  const engine = await addon().load(source, SCHEDULING, () => {
    // Nothing of the engine is told while this runs: what has happened meanwhile is told together.
    for (const end = performance.now() + 300; performance.now() < end; );
    throw new Error('the callback failed');
  });
  for (let ticket = 1; ticket <= 64; ticket++) engine.submit(ticket, [new Float32Array(256)], 0);
  await engine.close();
  console.log('closed');
}

main();
