/** The prebuilt addon in a package of its own: what it needs, and what is said where it does not fit. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { describeLibcProblem, PREBUILT_PACKAGE } from '../../src/native/find-addon';
import { ROOT } from '../helpers/service';

const RELEASE = path.join(ROOT, 'build/native/Release');
const { version: VERSION } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
};

/** Of Debian 12, on which releases are made. */
const GLIBC_OF_RELEASES = '2.36';

interface Manifest {
  readonly needs: { readonly glibc: string; readonly glibcxx: string };
}

let temporary: string;
/** Of the package with the prebuilt addon. */
let folder: string;
let manifest: Manifest;

/** LibTorch as this checkout was built with. */
const libtorch = (): string => {
  const location = path.join(ROOT, 'scripts/libtorch/location.cjs');
  const code = `console.log(require(${JSON.stringify(location)}).locateLibtorch().folder)`;
  return execFileSync(process.execPath, ['-e', code], { encoding: 'utf8' }).trim();
};

beforeEach(() => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'prebuilt-'));
  const own = path.join(temporary, 'node_modules/libtorch-serve');
  for (const name of ['dist', 'package.json', 'scripts/libtorch'])
    cpSync(path.join(ROOT, name), path.join(own, name), { recursive: true });
  const built = path.join(temporary, 'built');
  mkdirSync(built);
  for (const name of ['libtorch_serve.node', 'libtorch_serve_preloader.node'])
    copyFileSync(path.join(RELEASE, name), path.join(built, name));
  writeFileSync(path.join(built, 'THIRD_PARTY_LICENSES'), '');
  folder = path.join(temporary, 'node_modules', PREBUILT_PACKAGE);
  const script = JSON.stringify(path.join(ROOT, 'scripts/release/prebuilt.mjs'));
  const args = [folder, { version: VERSION }, built].map((value) => JSON.stringify(value));
  const code = `const { stagePrebuilt } = await import(${script}); stagePrebuilt(${args});`;
  execFileSync(process.execPath, ['--input-type=module', '-e', code]);
  manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
});
afterEach(() => rmSync(temporary, { recursive: true }));

function changeManifest(change: object): void {
  const text = JSON.stringify({ ...manifest, version: VERSION, ...change });
  writeFileSync(path.join(folder, 'package.json'), text);
}

/** What a program says that loads a model, or why it could not. */
function load(env: NodeJS.ProcessEnv = { LIBTORCH: libtorch() }): string {
  const modelDirectory = JSON.stringify(path.join(ROOT, 'models/sentiment'));
  const code = `const { SentimentEngine } = require('libtorch-serve');
    SentimentEngine.load({ modelDirectory: ${modelDirectory} })
      .then(async (engine) => {
        console.log((await engine.classify('A warm, funny film.')).label);
        await engine.close();
      })
      .catch((error) => console.log(error.message));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', code], {
    cwd: temporary,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      HOME: temporary,
      NODE_PATH: path.join(ROOT, 'node_modules'),
      ...env,
    },
  });
  return stdout + stderr;
}

describe('a prebuilt addon', () => {
  it('runs with the LibTorch that is there, and knows no place of the machine that it is from', () => {
    expect(load()).toBe('POSITIVE\n');
    const text = execFileSync('readelf', ['--dynamic', path.join(folder, 'libtorch_serve.node')]);
    expect(/runpath: \[(.*)\]/.exec(text.toString())?.[1]).toBe('$ORIGIN');
  });

  it('needs of a system what docs/guides/install.md says, and no more', () => {
    const report = process.report.getReport() as unknown as {
      readonly header: { readonly glibcVersionRuntime: string };
    };
    if (report.header.glibcVersionRuntime !== GLIBC_OF_RELEASES) {
      console.warn(`SKIPPED: releases are made where glibc is ${GLIBC_OF_RELEASES}`);
      return;
    }
    const text = readFileSync(path.join(ROOT, 'docs/guides/install.md'), 'utf8');
    const [, glibc, glibcxx] = /glibc ≥ (\d[\d.]*), with GLIBCXX_([\d.]+\d)/.exec(text) ?? [];
    expect(manifest.needs).toMatchObject({ glibc, glibcxx });
  });
});

describe('a service without LibTorch', () => {
  it('fetches it first, and ends when it is told to meanwhile', async () => {
    for (const name of ['undici', 'yauzl', 'pend', 'proxy-from-env'])
      symlinkSync(
        path.join(ROOT, 'node_modules', name),
        path.join(temporary, 'node_modules', name),
      );
    const index = createServer(); // takes requests, and never answers
    index.listen(0, '127.0.0.1');
    await once(index, 'listening');
    const env = {
      PATH: process.env.PATH,
      XDG_CACHE_HOME: temporary,
      NODE_PATH: path.join(ROOT, 'node_modules'),
      PIP_CONFIG_FILE: os.devNull,
      PIP_INDEX_URL: `http://127.0.0.1:${(index.address() as AddressInfo).port}`,
    };
    const main = path.join(temporary, 'node_modules/libtorch-serve/dist/main.js');
    const child = spawn(process.execPath, [main, 'sentiment'], { env, stdio: 'ignore' });
    const [{ url, socket }] = await once(index, 'request');
    expect(url).toBe('/torch/');
    child.kill('SIGTERM');
    const [[code]] = await Promise.all([once(child, 'close'), once(socket, 'close')]);
    expect(code).toBe(1);
    index.close();
  });
});

describe('what is said', () => {
  it('without the package', () => {
    rmSync(folder, { recursive: true });
    expect(load()).toContain(
      `The native addon is not built, and the prebuilt package ${PREBUILT_PACKAGE} is not installed. ` +
        `1. Run \`npm install ${PREBUILT_PACKAGE}@${VERSION}\` (\`--omit=optional\` skips it). ` +
        '2. Or compile it: `npx libtorch-serve build`.',
    );
  });

  it('of a package of another version', () => {
    changeManifest({ version: '99.0.0' });
    expect(load()).toContain(
      `${PREBUILT_PACKAGE} has version 99.0.0, but libtorch-serve has version ${VERSION}. ` +
        `1. Run \`npm install ${PREBUILT_PACKAGE}@${VERSION}\`. 2. Or compile it`,
    );
  });

  it('of a system that is too old', () => {
    changeManifest({ needs: { glibc: '9.9' } });
    expect(load()).toMatch(
      /^The prebuilt addon needs the GNU C library 9\.9 or newer; this system has 2\.\d+\. 1\. Use a newer system/,
    );
    expect(describeLibcProblem('2.34', '2.31')).toMatch(/this system has 2\.31\.$/);
    expect(describeLibcProblem('2.34', undefined)).toMatch(/another C library \(musl, as Alpine\)/);
    expect(describeLibcProblem('2.34', '2.34')).toBeUndefined();
    expect(describeLibcProblem('2.34', '2.41')).toBeUndefined();
    expect(describeLibcProblem('2.34', '3.0')).toBeUndefined();
  });

  it('without LibTorch', () => {
    expect(load({ XDG_CACHE_HOME: temporary })).toMatch(
      /^LibTorch [\d.]+ is not installed: lib\/\S+ is not there\. 1\. Run `npx libtorch-serve install`/,
    );
  });

  it('of a LibTorch that does not open', () => {
    const bad = path.join(temporary, 'libtorch');
    cpSync(
      path.join(libtorch(), 'include/torch/headeronly'),
      path.join(bad, 'include/torch/headeronly'),
      {
        recursive: true,
      },
    );
    mkdirSync(path.join(bad, 'lib'));
    for (const name of ['torch_cpu', 'c10'])
      writeFileSync(path.join(bad, 'lib', `lib${name}.so`), 'nothing');
    expect(load({ LIBTORCH: bad })).toMatch(
      /^The native addon cannot be opened: .*libtorch_cpu\.\w+: file too short\. 1\. If the message names a version/,
    );
  });
});
