/** What the build fetches is what is pinned: a file with one byte changed is refused, by each client. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from '../helpers/service';

const SCRIPTS = path.join(ROOT, 'scripts', 'libtorch');
const WHEELS = path.join(__dirname, 'scripts', 'wheels.py');
const NAME = `${process.platform}-${process.arch}`;
const REQUIREMENTS = `${NAME}.txt`;

/** The byte of a gzip file that nobody reads: it unpacks as before. */
const GZIP_SYSTEM = 9;

interface Platform {
  readonly tag: string;
  readonly libraries: readonly string[];
  readonly libtorch: string;
}

interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let temporary: string;

beforeEach(() => {
  temporary = mkdtempSync(path.join(os.tmpdir(), 'downloads-'));
});
afterEach(() => rmSync(temporary, { recursive: true }));

function node(code: string, env: NodeJS.ProcessEnv = {}): Result {
  const args = ['--input-type=module', '-e', code];
  return spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, ...env } });
}

function changeOneByte(file: string, position?: number): void {
  const bytes = readFileSync(file);
  const at = position ?? bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

/** As resolve.mjs has it. */
function platform(): Platform {
  const code = `const { currentPlatform, LIBTORCH_VERSION } = await import(${JSON.stringify(path.join(SCRIPTS, 'platforms.mjs'))});
    const { pipPlatforms: [tag], libraries } = currentPlatform();
    console.log(JSON.stringify({ tag, libraries, libtorch: LIBTORCH_VERSION }));`;
  return JSON.parse(node(code).stdout) as Platform;
}

/** NAME==VERSION of the requirements of LibTorch on this platform. */
function pins(): readonly string[] {
  const text = readFileSync(path.join(SCRIPTS, REQUIREMENTS), 'utf8');
  return [...text.matchAll(/^([\w-]+==\S+)/gm)].map((match) => match[1] ?? '');
}

/** Small wheels with the names of the real ones; returns a requirements file of theirs, and where they are. */
function makeWheels(): {
  readonly folder: string;
  readonly text: string;
  readonly files: string[];
} {
  const folder = path.join(temporary, 'wheels');
  mkdirSync(folder);
  const { tag, libtorch, libraries } = platform();
  const args = [WHEELS, folder, tag, libtorch, ...pins(), '--', ...libraries];
  const lines = execFileSync('python3', args, { encoding: 'utf8' }).trim().split('\n');
  const words = lines.map((line) => line.split(' '));
  return {
    folder,
    text: words.map(([pin, hash]) => `${pin} ${hash}\n`).join(''),
    files: words.map(([, , file]) => file ?? ''),
  };
}

/** Finds LibTorch as the build does, where pip knows no other wheels than those of a folder. */
function resolve(scripts: string, wheels: string): Result & { readonly cache: string } {
  const cache = path.join(temporary, 'cache');
  const env = {
    XDG_CACHE_HOME: cache,
    LIBTORCH: '',
    HOME: temporary,
    PIP_CONFIG_FILE: os.devNull,
    PIP_NO_INDEX: '1',
    PIP_FIND_LINKS: wheels,
  };
  const module = JSON.stringify(path.join(scripts, 'resolve.mjs'));
  const code = `const { resolveLibtorch } = await import(${module});
    await resolveLibtorch().then(
      (folder) => console.log('LibTorch is in ' + folder),
      (error) => { console.error('named: ' + error.message); process.exitCode = 1; },
    );`;
  const result = node(code, env);
  // macOS keeps caches elsewhere, unless this variable says where.
  return { ...result, cache: path.join(cache, 'libtorch-serve') };
}

const hasPip = spawnSync('python3', ['-m', 'pip', '--version']).status === 0;
if (!hasPip) console.warn('SKIPPED: wheels are fetched by pip (Debian: python3 python3-pip)');

(hasPip ? describe : describe.skip)('the wheels of LibTorch', () => {
  const REFUSED =
    /named: pip could not download LibTorch: a wheel is not the pinned one, its SHA-256 is another/;

  it('are taken when they are those of the requirements, with their licences', () => {
    const { folder, text } = makeWheels();
    const scripts = path.join(temporary, 'scripts');
    cpSync(SCRIPTS, scripts, { recursive: true });
    writeFileSync(path.join(scripts, REQUIREMENTS), text);
    const { status, stdout, stderr, cache } = resolve(scripts, folder);
    expect({ status, stderr }).toMatchObject({ status: 0 });
    const [found = ''] = readdirSync(cache);
    expect(stdout).toContain(`LibTorch is in ${path.join(cache, found)}`);
    expect(readdirSync(path.join(cache, found)).sort()).toEqual(['include', 'lib', 'licenses']);
    expect(readdirSync(path.join(cache, found, 'lib')).sort()).toEqual(
      [...platform().libraries].sort(),
    );
    const licence = path.join(cache, found, 'licenses', pins()[0]?.replace('==', '-') ?? '');
    expect(readFileSync(path.join(licence, 'licenses', 'third_party', 'LICENSE'), 'utf8')).toBe(
      'The licence of torch.\n',
    );
  });

  it('are refused when one byte of one is another, and nothing is left', () => {
    const { folder, text, files } = makeWheels();
    const scripts = path.join(temporary, 'scripts');
    cpSync(SCRIPTS, scripts, { recursive: true });
    writeFileSync(path.join(scripts, REQUIREMENTS), text);
    changeOneByte(files.at(-1) ?? '');
    const { status, stderr, cache } = resolve(scripts, folder);
    expect({ status, stderr }).toMatchObject({ status: 1 });
    expect(stderr).toMatch(REFUSED);
    expect(readdirSync(cache)).toEqual([]);
  });

  it('are refused by the requirements as they are committed, when others have their names', () => {
    const { folder } = makeWheels();
    const { status, stderr, cache } = resolve(SCRIPTS, folder);
    expect({ status, stderr }).toMatchObject({ status: 1 });
    expect(stderr).toMatch(REFUSED);
    const [, pinned = ''] =
      /^torch==\S+ --hash=sha256:(\S+)/m.exec(
        readFileSync(path.join(SCRIPTS, REQUIREMENTS), 'utf8'),
      ) ?? [];
    expect(stderr).toContain(pinned);
    expect(readdirSync(cache)).toEqual([]);
  });

  it('bring their licences into what goes along with a built addon', () => {
    const { folder, text } = makeWheels();
    const scripts = path.join(temporary, 'scripts');
    cpSync(SCRIPTS, scripts, { recursive: true });
    writeFileSync(path.join(scripts, REQUIREMENTS), text);
    const { cache } = resolve(scripts, folder);
    const [found = ''] = readdirSync(cache);
    const output = path.join(temporary, 'THIRD_PARTY_LICENSES');
    const run = (libtorch: string) =>
      spawnSync(process.execPath, [path.join(ROOT, 'scripts/third-party-licenses.mjs'), output], {
        encoding: 'utf8',
        env: { ...process.env, LIBTORCH: libtorch },
      });
    expect(run(path.join(cache, found))).toMatchObject({ status: 0, stderr: '' });
    const licences = readFileSync(output, 'utf8');
    expect(licences).toContain('The licence of torch.');
    expect(licences).toMatch(/^tokenizers \d+\.\d+\.\d+ \(Apache-2\.0\)$/m);
    expect(licences).toMatch(/^oniguruma\/COPYING:$/m);
    expect(licences).toMatch(/^Rust standard library \d/m);
    rmSync(path.join(cache, found, 'licenses'), { recursive: true });
    expect(run(path.join(cache, found)).stderr).toMatch(/^licenses: .* has no licenses\//);
  });
});

describe('crates', () => {
  function metadata(change: (lock: string) => string): Result {
    const folder = path.join(ROOT, 'native', 'hf');
    mkdirSync(path.join(temporary, 'src'));
    writeFileSync(path.join(temporary, 'src', 'lib.rs'), '');
    cpSync(path.join(folder, 'Cargo.toml'), path.join(temporary, 'Cargo.toml'));
    const lock = readFileSync(path.join(folder, 'Cargo.lock'), 'utf8');
    writeFileSync(path.join(temporary, 'Cargo.lock'), change(lock));
    const args = ['metadata', '--locked', '--format-version=1'];
    return spawnSync('cargo', args, { cwd: temporary, encoding: 'utf8', maxBuffer: 2 ** 26 });
  }

  it('are taken with the checksums of Cargo.lock, and refused with another', () => {
    expect(metadata((lock) => lock).status).toBe(0);
    rmSync(path.join(temporary, 'src'), { recursive: true });
    const other = metadata((lock) =>
      lock.replace(
        /(name = "safetensors"[^[]*checksum = ")(.)/,
        (_all, start, digit) => `${start}${digit === '0' ? '1' : '0'}`,
      ),
    );
    expect(other.status).not.toBe(0);
    expect(other.stderr).toMatch(/checksum for `safetensors v[\d.]+` changed between lock files/);
  });
});

describe('npm packages', () => {
  it('are taken with the integrity of the lock file, and refused with one byte changed', () => {
    const source = path.join(temporary, 'source');
    const project = path.join(temporary, 'project');
    mkdirSync(source);
    mkdirSync(project);
    const put = (folder: string, name: string, value: unknown) =>
      writeFileSync(path.join(folder, name), JSON.stringify(value));
    const npm = (...args: readonly string[]) =>
      spawnSync('npm', [...args, '--offline', '--no-audit', '--no-fund'], {
        cwd: project,
        encoding: 'utf8',
        env: { ...process.env, npm_config_cache: path.join(temporary, 'npm') },
      });
    put(source, 'package.json', { name: 'small', version: '1.0.0' });
    put(project, 'package.json', {
      name: 'project',
      dependencies: { small: 'file:small-1.0.0.tgz' },
    });
    expect(npm('pack', source)).toMatchObject({ status: 0 });
    expect(npm('install', '--package-lock-only')).toMatchObject({ status: 0 });
    expect(npm('ci')).toMatchObject({ status: 0 });
    changeOneByte(path.join(project, 'small-1.0.0.tgz'), GZIP_SYSTEM);
    rmSync(path.join(temporary, 'npm'), { recursive: true }); // npm keeps what it has checked
    const { status, stderr } = npm('ci');
    expect(status).not.toBe(0);
    expect(stderr).toContain('EINTEGRITY');
    expect(existsSync(path.join(project, 'node_modules', 'small'))).toBe(false);
  });
});
