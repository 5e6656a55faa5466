/** What the build fetches is what is pinned: a file with one byte changed is refused, by each client. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from '../helpers/service';
import { copyManifests } from '../helpers/supply-chain';

/** The byte of a gzip file that nobody reads: it unpacks as before. */
const GZIP_SYSTEM = 9;

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

function changeOneByte(file: string, position?: number): void {
  const bytes = readFileSync(file);
  const at = position ?? bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

describe('crates', () => {
  function metadata(change: (lock: string) => string): Result {
    copyManifests(temporary);
    const lock = readFileSync(path.join(ROOT, 'native/Cargo.lock'), 'utf8');
    writeFileSync(path.join(temporary, 'Cargo.lock'), change(lock));
    const args = ['metadata', '--locked', '--format-version=1'];
    return spawnSync('cargo', args, { cwd: temporary, encoding: 'utf8', maxBuffer: 2 ** 26 });
  }

  it('are taken with the checksums of Cargo.lock, and refused with another', () => {
    expect(metadata((lock) => lock).status).toBe(0);
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
