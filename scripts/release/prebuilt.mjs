/** The package of the prebuilt addon for a platform. */
import fs from 'node:fs';
import path from 'node:path';
import { THIS_PLATFORM } from '../libtorch/location.cjs';
import { symbolVersions } from './symbol-versions.mjs';

/** Platforms that a release has a prebuilt addon for. */
export const PREBUILT_PLATFORMS = ['linux-x64', 'linux-arm64'];

const ADDON = 'libtorch_serve.node';
const PRELOADER = 'libtorch_serve_preloader.node';
const BESIDE = '$ORIGIN';

export function prebuiltName(platform) {
  return `@libtorch-serve/${platform}`;
}

/**
 * Fills a folder with the package: the built addon, without the place where LibTorch lies on this
 * machine, and what it needs of a system.
 *
 * @param own package.json of libtorch-serve
 * @param release folder with the built addon and THIRD_PARTY_LICENSES
 * @param platform that it was built for
 * @returns package.json of the package
 */
export function stagePrebuilt(folder, own, release, platform = THIS_PLATFORM) {
  if (!PREBUILT_PLATFORMS.includes(platform)) {
    throw new Error(`no addon is released for ${platform}: ${PREBUILT_PLATFORMS.join(', ')}`);
  }
  fs.mkdirSync(folder, { recursive: true });
  for (const name of [ADDON, PRELOADER, 'THIRD_PARTY_LICENSES']) {
    fs.copyFileSync(path.join(release, name), path.join(folder, name));
  }
  const addon = path.join(folder, ADDON);
  fs.writeFileSync(addon, withoutPlace(fs.readFileSync(addon)));
  const { version, license, engines } = own;
  const [os, cpu] = platform.split('-');
  const manifest = {
    name: prebuiltName(platform),
    version,
    description: `The native part of libtorch-serve, compiled for ${platform}`,
    license,
    engines,
    os: [os],
    cpu: [cpu],
    ...(os === 'linux' ? { libc: ['glibc'], needs: symbolVersions(addon) } : {}),
  };
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/** Of an addon's library path only its own folder stays; src/native/addon.ts opens LibTorch before it. */
function withoutPlace(addon) {
  const start = addon.indexOf(`\0${BESIDE}:/`) + 1;
  if (start === 0) throw new Error(`${ADDON} has no library path that begins with ${BESIDE}`);
  const end = addon.indexOf(0, start);
  addon.fill(0, start + BESIDE.length, end);
  return addon;
}
