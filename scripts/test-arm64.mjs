/**
 * Linux on arm64, without such a machine: compiled for it here, and run by QEMU's user mode. The last line is
 * `N passed, N failed`. Says nothing about its speed. The first time takes half an hour.
 *
 *   native   the C++ suites
 *   rust     the Rust suite
 *   service  the packages of a release, installed as on arm64, with Node.js for it: both services are asked
 *            the same as those of this machine's build, and have to answer the same
 *
 * Usage: npm run test:arm64 [-- part …], default: all
 *
 * Needs what scripts/cross.mjs and scripts/arm64/emulator.mjs ask for, and GoogleTest's source (libgtest-dev).
 * What emulation cannot run is named in scripts/arm64/excluded.mjs.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findRunner } from './arm64/emulator.mjs';
import * as excluded from './arm64/excluded.mjs';
import { ask, compare, install, SERVICES } from './arm64/service.mjs';
import { crossBuild, crossFolder, rustOf } from './cross.mjs';
import { runGoogleTest, SUITES } from './google-test.mjs';
import { prebuiltName } from './release/prebuilt.mjs';
import { runSuite, sum } from './suite.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const PLATFORM = 'linux-arm64';
const FOLDER = crossFolder(PLATFORM);

const PARTS = {
  native: async () => {
    await crossBuild(PLATFORM, SUITES);
    const runner = findRunner();
    const programs = SUITES.map((suite) => path.join(FOLDER, 'test', suite));
    const env = { GTEST_FILTER: `-${Object.keys(excluded.NATIVE).join(':')}` };
    return sum(programs.map((program) => runGoogleTest(program, env, runner)));
  },
  rust: () => {
    const { rustc, target } = rustOf(PLATFORM);
    const settings = Object.entries({
      linker: 'aarch64-linux-gnu-gcc',
      runner: findRunner(),
    }).flatMap(([key, value]) => ['--config', `target.${target}.${key}=${JSON.stringify(value)}`]);
    // Not the documentation's examples, of which there are none: rustdoc may be of another Rust than rustc.
    const what = ['--workspace', '--lib', '--tests', '--no-fail-fast', '--target', target];
    const args = ['test', '--release', '--locked', ...what];
    // The folder of the build, so that what it has compiled is not compiled again.
    const place = ['--target-dir', path.join(FOLDER, 'rust')];
    const skipped = Object.keys(excluded.RUST).flatMap((test) => ['--skip', test]);
    const command = [...args, ...settings, ...place, '--', ...skipped];
    const { status, stdout } = spawnSync('cargo', command, {
      cwd: path.join(ROOT, 'native'),
      env: { ...process.env, RUSTC: rustc },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 2 ** 26,
    });
    process.stdout.write(stdout ?? '');
    const results = [...(stdout ?? '').matchAll(/^test result: .* (\d+) passed; (\d+) failed;/gm)];
    const { passed, failed } = sum(
      results.map((match) => ({ passed: Number(match[1]), failed: Number(match[2]) })),
    );
    const couldNotRun = failed === 0 && (status !== 0 || passed === 0);
    return { passed, failed: couldNotRun ? 1 : failed };
  },
  service: async () => {
    const { node, main } = install(path.join(FOLDER, 'installed'), release());
    const emulated = [...findRunner(), node, main];
    const results = [];
    for (const name of Object.keys(SERVICES)) {
      results.push(await expectSame(name, emulated));
    }
    return sum(results);
  },
};

/** Names of packages to paths of tarballs. */
function release() {
  const folder = path.join(FOLDER, 'release');
  const args = ['scripts/release.mjs', folder, `--platform=${PLATFORM}`];
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error('the release failed, see above');
  const { name, version } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  return {
    [name]: path.join(folder, `${name}-${version}.tgz`),
    [prebuiltName(PLATFORM)]: path.join(folder, `${name}-${PLATFORM}-${version}.tgz`),
  };
}

async function expectSame(name, emulated) {
  try {
    const env = { EEG_MODEL_PATH: path.join(ROOT, 'models/eeg/eeg_model.pt') };
    const expected = await ask(name, [process.execPath, 'dist/main.js'], { cwd: ROOT, env });
    const answers = await ask(name, emulated, { cwd: FOLDER, env });
    const difference = compare(answers, expected);
    console.log(
      `${name}: ${answers.length} answers, numbers within ${difference.toExponential(1)}`,
    );
    return { passed: 1, failed: 0 };
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    return { passed: 0, failed: 1 };
  }
}

const given = process.argv.slice(2);
for (const [name, reason] of Object.entries(Object.assign({}, ...Object.values(excluded)))) {
  console.log(`not run: ${name}: ${reason}`);
}
await runSuite('arm64', PARTS, given.length > 0 ? given : Object.keys(PARTS));
