/**
 * Prints the files of native/ that one POST /analyze executes. Builds the addon with coverage counters in
 * build/coverage (about 10 minutes the first time), runs the service twice, with one request more in the second run,
 * and compares the counters that gcov reports. C++ only: the Rust crates are not instrumented.
 *
 *   node scripts/trace-native.mjs
 */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildNative, configureNative } from './build-native.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const FOLDER = path.join(ROOT, 'build/coverage');
const BODY = JSON.stringify({ text: "It wasn't good." });
/** Requests before the counted one. */
const WARM_UP = 5;

/** Counters of all functions after a service answered a number of requests: file and function to calls. */
async function callsAfter(requests) {
  const counters = fs.mkdtempSync(path.join(os.tmpdir(), 'coverage-'));
  const env = { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', WORKERS: '1' };
  const service = fork(path.join(layOut(), 'dist/main.js'), ['sentiment'], {
    env: { ...env, GCOV_PREFIX: counters },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const port = await listeningPort(service);
  for (let i = 0; i < requests; i++) {
    const headers = { 'Content-Type': 'application/json' };
    const url = `http://127.0.0.1:${port}/analyze`;
    const response = await fetch(url, { method: 'POST', headers, body: BODY });
    if (!response.ok) throw new Error(`POST /analyze: ${response.status} ${await response.text()}`);
    await response.text();
  }
  service.kill('SIGTERM');
  await once(service, 'exit');
  return readCounters(counters);
}

/** Copies the package next to the addon with counters: the service looks for its addon there. */
function layOut() {
  const home = path.join(FOLDER, 'home');
  fs.rmSync(home, { recursive: true, force: true });
  fs.cpSync(path.join(ROOT, 'dist'), path.join(home, 'dist'), { recursive: true });
  const release = path.join(home, 'build/native/Release');
  fs.cpSync(path.join(FOLDER, 'Release'), release, { recursive: true });
  fs.copyFileSync(path.join(ROOT, 'package.json'), path.join(home, 'package.json'));
  fs.symlinkSync(path.join(ROOT, 'models'), path.join(home, 'models'));
  return home;
}

async function listeningPort(service) {
  let log = '';
  for await (const chunk of service.stdout) {
    log += chunk;
    const port = /"port":(\d+).*"listening"/.exec(log)?.[1];
    if (port) return Number(port);
  }
  throw new Error(`the service did not listen: ${log}`);
}

function readCounters(folder) {
  const calls = new Map();
  for (const file of fs.readdirSync(folder, { recursive: true })) {
    if (!file.endsWith('.gcda')) continue;
    // gcov finds the notes (.gcno) next to the counters.
    const notes = `/${file.replace(/\.gcda$/, '.gcno')}`;
    fs.copyFileSync(notes, path.join(folder, file.replace(/\.gcda$/, '.gcno')));
    const args = ['--json-format', '--stdout', path.join(folder, file)];
    const output = execFileSync('gcov', args, { encoding: 'utf8', maxBuffer: 1 << 30 });
    for (const line of output.split('\n').filter(Boolean)) {
      for (const { file: source, functions } of JSON.parse(line).files) {
        const name = path.relative(ROOT, path.resolve(ROOT, source));
        if (!name.startsWith('native/')) continue;
        for (const { name: symbol, execution_count: count } of functions) {
          const key = `${name} ${symbol}`;
          calls.set(key, (calls.get(key) ?? 0) + count);
        }
      }
    }
  }
  return calls;
}

await configureNative(FOLDER, {
  // ccache would compile with relative paths, which the counters then have, too.
  CMAKE_CXX_COMPILER_LAUNCHER: '/usr/bin/env',
  COVERAGE: 'ON',
  RUST_TARGET_DIR: path.join(ROOT, 'build/native/rust'),
});
await buildNative('libtorch_serve', FOLDER);
const before = await callsAfter(WARM_UP);
const after = await callsAfter(WARM_UP + 1);
const files = new Set();
for (const [key, count] of after) {
  if (count > (before.get(key) ?? 0)) files.add(key.split(' ')[0]);
}
console.log(`POST /analyze: ${files.size} C++ files of native`);
for (const file of [...files].sort()) console.log(`  ${file}`);
