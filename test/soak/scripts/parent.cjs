// A parent that reads what its child writes: runs `node ARGUMENTS…`, says which process that is, and
// passes on its output.
const { spawn } = require('node:child_process');

const child = spawn(process.execPath, process.argv.slice(2), {
  stdio: ['ignore', 'pipe', 'inherit'],
});
process.stdout.write(`${JSON.stringify({ msg: 'child', pid: child.pid })}\n`);
child.stdout.pipe(process.stdout);
child.on('exit', (code, signal) => {
  process.stdout.write(`${JSON.stringify({ msg: 'ended', pid: child.pid, code, signal })}\n`);
});
setInterval(() => {}, 1000);
