// Starts the built services with the shipped models and passes signals on to them.
//   node scripts/start.mjs                  sentiment on PORT (8000) and EEG on PORT + 1 (8001)
//   node scripts/start.mjs sentiment|eeg    one of them, on PORT (8000)
// GRPC_PORT likewise, where it is set.
// Flags are passed on, as in `npm start -- --log-level debug`. When one service ends, so does all.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const SERVICES = ['sentiment', 'eeg'];

const args = process.argv.slice(2);
const single = SERVICES.find((name) => name === args[0]);
const names = single ? [single] : SERVICES;
const flags = single ? args.slice(1) : args;
const basePort = process.env.PORT || '8000';
const { GRPC_PORT: baseGrpcPort } = process.env;
/** The shipped one, wherever this is started. */
const eegModel = process.env.EEG_MODEL_PATH || path.join(ROOT, 'models', 'eeg', 'eeg_model.pt');

let exitCode = 0;
let stoppedAt = null;

const children = names.map((name, index) => {
  const child = spawn(process.execPath, [path.join(ROOT, 'dist', 'main.js'), name, ...flags], {
    env: {
      ...process.env,
      EEG_MODEL_PATH: eegModel,
      PORT: portOf(basePort, index),
      ...(baseGrpcPort && { GRPC_PORT: portOf(baseGrpcPort, index) }),
    },
    // Through the channel a service learns that this process has gone, whatever ended it.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // A process group of its own: Ctrl-C reaches it once, through `stop`, not twice.
    detached: true,
  });
  child.on('exit', (code, signal) => {
    exitCode ||= code ?? (signal === null ? 0 : 1);
    process.exitCode = exitCode;
    if (stoppedAt === null) stop('SIGTERM');
  });
  return child;
});

/** 0 is any free port, and what is no number is passed on for the service to explain. */
function portOf(base, index) {
  return Number(base) > 0 ? String(Number(base) + index) : base;
}

function stop(signal) {
  stoppedAt ??= Date.now();
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
  }
}

/** How often this process looks whether npm, which started it, has gone. */
const LOOK_INTERVAL_MS = 500;

// npm passes SIGINT and SIGTERM on, but nothing can be passed on by a process that is killed (SIGKILL, want
// of memory). Only where npm started this: a shell may go and leave what it has started in the background.
const { ppid } = process;
if (process.env.npm_lifecycle_event !== undefined) {
  setInterval(() => {
    if (process.ppid !== ppid && stoppedAt === null) stop('SIGTERM');
  }, LOOK_INTERVAL_MS).unref();
}

// SIGHUP, from a terminal that closes, no longer reaches the services by itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // npm passes on the signal that the terminal has already sent: one Ctrl-C arrives twice.
    if (stoppedAt !== null && Date.now() - stoppedAt < 500) return;
    stop(signal === 'SIGINT' ? 'SIGINT' : 'SIGTERM');
  });
}
