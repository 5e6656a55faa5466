/** What the Dockerfile takes from a registry of images, made here of packages of Debian and npm. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { npmFolder } from './empty-system';
import type { ImageBuilder } from './image-builder';
import { copyNetworkFiles, networkVariables } from './network-settings';
import { ROOT } from './service';

const RELEASE = 'bookworm';
/** What the slim images of Debian leave out as well. */
const NOT_SLIM = ['usr/share/doc', 'usr/share/info', 'usr/share/locale', 'usr/share/man'];
const LEFT_BEHIND = ['var/cache/apt', 'var/cache/debconf', 'var/lib/apt/lists', 'var/log'];
const RUST = 'opt/rust';

/** Names of base images, by the arguments of the Dockerfile. */
export function makeBases(builder: ImageBuilder): Readonly<Record<string, string>> {
  const RUNTIME_IMAGE = builder.base('base-runtime', fillDebian);
  return {
    RUNTIME_IMAGE,
    NODE_IMAGE: builder.base('base-node', fillNode),
    RUST_IMAGE: builder.base('base-rust', fillRust, {
      from: RUNTIME_IMAGE,
      env: {
        ...networkVariables(),
        PATH: `/${RUST}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
      },
    }),
  };
}

function fillDebian(root: string): void {
  const options = { stdio: ['ignore', 'ignore', 'inherit'] as ('ignore' | 'inherit')[] };
  execFileSync('debootstrap', ['--variant=minbase', RELEASE, root], options);
  for (const folder of [...NOT_SLIM, ...LEFT_BEHIND]) {
    rmSync(path.join(root, folder), { recursive: true });
    mkdirSync(path.join(root, folder));
  }
}

/** Node.js of the version that the Dockerfile names, with its headers, as nodejs.org has built it. */
function fillNode(root: string): void {
  const dockerfile = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8');
  const [, version] = /^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(dockerfile) ?? [];
  const local = path.join(root, 'usr/local');
  mkdirSync(local, { recursive: true });
  const pack = ['pack', '--silent', `node-linux-${os.arch()}@${version}`, '--pack-destination'];
  const tarball = execFileSync('npm', [...pack, root], { encoding: 'utf8' }).trim();
  const file = path.join(root, tarball);
  execFileSync('tar', ['-xzf', file, '--strip-components=1', '--no-same-owner', '-C', local]);
  rmSync(file);
  const npm = 'lib/node_modules/npm';
  cpSync(npmFolder(), path.join(local, npm), { recursive: true, verbatimSymlinks: true });
  symlinkSync(path.join('..', npm, 'bin/npm-cli.js'), path.join(local, 'bin/npm'));
}

/** The toolchain of this machine, and how this machine reaches registries. */
function fillRust(root: string): void {
  const toolchain = execFileSync('rustc', ['--print', 'sysroot'], { encoding: 'utf8' }).trim();
  const notices = 'share/doc/rust/COPYRIGHT-library.html';
  for (const name of ['bin/cargo', 'bin/rustc', 'lib', notices]) {
    cpSync(path.join(toolchain, name), path.join(root, RUST, name), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
  // The package first: it writes the file of certificates, which this machine may have another one of.
  copyNetworkFiles(root);
  const install = 'apt-get update && apt-get install -y --no-install-recommends ca-certificates';
  const env = { ...networkVariables(), PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
  execFileSync('chroot', [root, 'sh', '-c', install], { stdio: ['ignore', 2, 2], env });
  copyNetworkFiles(root);
}
