/**
 * The software bill of materials: npm packages (npm sbom), Rust crates and LibTorch in one CycloneDX
 * file. The same lock files and the same Rust give the same bytes.
 *
 * Usage: npm run sbom [-- FILE] [--platform PLATFORM …]
 *
 * FILE: default build/sbom.cdx.json. PLATFORM: what Rust was compiled for, default: this machine's.
 *
 * Scope `required` is what runs or is passed on with a service, `excluded` what builds and tests it.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rustOf } from './cross.mjs';
import { THIS_PLATFORM } from './libtorch/location.cjs';
import { crates, libraries, npmPackages, wheels } from './supply-chain/components.mjs';
import { onigurumaVersion, rustVersion } from './supply-chain/linked.mjs';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

function npmSbom() {
  const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--loglevel=error'];
  const run = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (run.error) throw new Error(`npm sbom: ${run.error.message}`);
  if (run.status !== 0) throw new Error(`npm sbom: ${run.stderr.trim()}`);
  return JSON.parse(run.stdout);
}

/** With what npm leaves out when it looks at the lock file alone. */
function npmComponents(components) {
  const locked = new Map();
  for (const entry of npmPackages(ROOT)) {
    const purl = `pkg:npm/${entry.name.replace('@', '%40')}@${entry.version}`;
    if (!locked.get(purl)?.ships) locked.set(purl, entry); // the same version may be there twice
  }
  return components.map((component) => {
    const entry = locked.get(component.purl);
    if (!entry) throw new Error(`npm sbom: ${component.purl} is not in package-lock.json`);
    return { ...component, scope: scope(entry.ships), licenses: licences(entry.licence) };
  });
}

function crateComponents() {
  return crates(ROOT).map(({ name, version, licence, ships, sha256 }) => ({
    'bom-ref': `cargo/${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: scope(ships),
    purl: `pkg:cargo/${name}@${version}`,
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    licenses: licences(licence.replaceAll(/\s*\/\s*/g, ' OR ')),
  }));
}

/** What comes inside of crates and of the compiler, and is linked as well. */
function linkedComponents(platforms) {
  const rusts = new Set(platforms.map((platform) => rustVersion(rustOf(platform).rustc)));
  return [
    ['oniguruma', onigurumaVersion(crates(ROOT)), 'BSD-2-Clause'],
    ...[...rusts].map((version) => ['rust-std', version, 'MIT OR Apache-2.0']),
  ].map(([name, version, licence]) => ({
    'bom-ref': `generic/${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:generic/${name}@${version}`,
    licenses: licences(licence),
  }));
}

/** One for each wheel of each platform; the libraries taken out of them belong to torch's. */
function libtorchComponents() {
  return wheels(ROOT).map(({ platform, name, version, sha256 }) => ({
    'bom-ref': `pypi/${name}@${version}#${platform}`,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:pypi/${name}@${version}`,
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    properties: [{ name: 'libtorch-serve:platform', value: platform }],
  }));
}

function libraryComponents() {
  return libraries().map(({ name, version, licence }) => ({
    'bom-ref': `libtorch/${name}`,
    type: 'file',
    name,
    version,
    scope: 'required',
    licenses: licences(licence),
    description: 'out of the wheels, unchanged; in images without symbol tables',
  }));
}

const scope = (ships) => (ships ? 'required' : 'excluded');
const licences = (expression) => [{ expression }];

/** A UUID that says the same as the content. */
function serialNumber(content) {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
  ];
  return `urn:uuid:${[...parts, hex.slice(20, 32)].join('-')}`;
}

function bill(platforms) {
  const { $schema, bomFormat, specVersion, metadata, components, dependencies } = npmSbom();
  const { name, version, license } = JSON.parse(
    fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
  );
  const native = [...crateComponents(), ...linkedComponents(platforms), ...libtorchComponents()];
  const content = {
    metadata: {
      lifecycles: metadata.lifecycles,
      component: {
        ...metadata.component,
        name,
        version,
        type: 'application',
        licenses: licences(license),
      },
    },
    components: [...npmComponents(components), ...native, ...libraryComponents()],
    dependencies,
  };
  return {
    $schema,
    bomFormat,
    specVersion,
    serialNumber: serialNumber(content),
    version: 1,
    ...content,
  };
}

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { platform: { type: 'string', multiple: true, default: [THIS_PLATFORM] } },
  });
  const file = path.resolve(positionals[0] ?? path.join(ROOT, 'build', 'sbom.cdx.json'));
  const sbom = bill(values.platform);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(sbom, undefined, 2)}\n`);
  const shipped = sbom.components.filter((component) => component.scope === 'required').length;
  console.log(`sbom: ${file}: ${sbom.components.length} components, ${shipped} of them shipped`);
} catch (error) {
  console.error(`sbom: ${error.message}`);
  process.exitCode = 1;
}
