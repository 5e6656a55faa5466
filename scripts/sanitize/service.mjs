/** A service whose addon is built with AddressSanitizer and UndefinedBehaviorSanitizer, and its load. */
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { REQUESTS } from './requests.mjs';

/** How often each kind of request is sent, this many at a time. */
const ROUNDS = 40;
const AT_A_TIME = 8;

/**
 * Runs a service through requests of every kind, and ends it by SIGTERM.
 *
 * @param folder of the build
 * @param options of the sanitizers, as environment variables
 * @returns one passed, where every status was as expected, the exit code was 0 and no sanitizer had
 *   anything to report; else one failed
 */
export async function runService(name, { root, folder, options }) {
  const home = path.join(folder, 'service');
  const reports = path.join(folder, 'reports');
  layOut(root, folder, home);
  fs.rmSync(reports, { recursive: true, force: true });
  fs.mkdirSync(reports);
  const log = path.join(folder, `service-${name}.log`);
  const output = fs.openSync(log, 'w');
  const child = spawn(process.execPath, ['dist/main.js', name, '--port', '0'], {
    cwd: home,
    stdio: ['ignore', output, output],
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      EEG_MODEL_PATH: path.join(root, 'models/eeg/eeg_model.pt'),
      // Node.js is not linked against the runtime, which has to be there before all else.
      LD_PRELOAD: ['libasan.so', 'libubsan.so'].map(runtime).join(':'),
      ...options,
      ASAN_OPTIONS: `${options.ASAN_OPTIONS}:log_path=${reports}/asan`,
      UBSAN_OPTIONS: `${options.UBSAN_OPTIONS}:log_path=${reports}/ubsan`,
    },
  });
  const ended = new Promise((resolve) => {
    child.on('exit', (code, signal) => resolve({ code, signal }));
  });
  const problems = [];
  let answered = 0;
  try {
    const port = await listening(log, child);
    answered = await exercise(`http://127.0.0.1:${port}`, REQUESTS[name], problems);
  } catch (error) {
    problems.push(error.message);
  }
  child.kill('SIGTERM');
  const { code, signal } = await ended;
  fs.closeSync(output);
  if (code !== 0) problems.push(`ended with ${code ?? signal}`);
  for (const report of fs.readdirSync(reports)) {
    problems.push(fs.readFileSync(path.join(reports, report), 'utf8'));
  }
  console.log(`${name}: ${answered} requests, exit code ${code}, ${problems.length} problems`);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) console.error(`The log is ${log}.`);
  return problems.length === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** What is installed as a package is: the JavaScript finds its addon beside it. */
function layOut(root, folder, home) {
  fs.rmSync(home, { recursive: true, force: true });
  const release = path.join(home, 'build/native/Release');
  fs.mkdirSync(release, { recursive: true });
  fs.cpSync(path.join(root, 'dist'), path.join(home, 'dist'), { recursive: true });
  fs.cpSync(path.join(folder, 'Release'), release, { recursive: true });
  fs.copyFileSync(path.join(root, 'package.json'), path.join(home, 'package.json'));
  fs.symlinkSync(path.join(root, 'models'), path.join(home, 'models'));
}

function runtime(library) {
  const file = execFileSync('g++', [`-print-file-name=${library}`], { encoding: 'utf8' }).trim();
  if (!path.isAbsolute(file)) throw new Error(`g++ has no ${library}: install GCC's sanitizers`);
  return fs.realpathSync(file);
}

/** The port; rejects when the process ends before it listens. */
async function listening(log, child) {
  for (;;) {
    const line = fs
      .readFileSync(log, 'utf8')
      .split('\n')
      .find((text) => text.includes('"msg":"listening"'));
    if (line) return JSON.parse(line).port;
    if (child.exitCode !== null) throw new Error('the service did not start');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Sends every kind of request, several at a time; resolves with how many there were. */
async function exercise(origin, kinds, problems) {
  const waiting = Array.from({ length: ROUNDS }, () => kinds).flat();
  const total = waiting.length;
  const one = async () => {
    for (let kind = waiting.pop(); kind; kind = waiting.pop()) {
      const status = await send(origin, kind);
      if (status !== kind.status) {
        problems.push(`${kind.path} ${kind.what}: ${status}, expected ${kind.status}`);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, one));
  return total;
}

/** The status, or 0 where the client went before it. */
async function send(origin, { path: route, body, cancelAfterMs }) {
  const signal = cancelAfterMs === undefined ? undefined : AbortSignal.timeout(cancelAfterMs);
  try {
    const answer = await fetch(`${origin}${route}`, {
      signal,
      ...(body !== undefined && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    });
    await answer.arrayBuffer();
    return cancelAfterMs === undefined ? answer.status : 0;
  } catch (error) {
    if (cancelAfterMs !== undefined) return 0;
    throw error;
  }
}
