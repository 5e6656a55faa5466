/** Whether what is installed follows from the files alone: exact versions, a hash for each download. */
import fs from 'node:fs';
import path from 'node:path';
import { cargoMetadata, npmPackages, requirements, wheels } from './components.mjs';

/** Installed by the build, the checks or the tests: with hashes. */
const WITH_HASHES = [
  'scripts/check-native.txt',
  'test/schemathesis/requirements.txt',
  'test/clients/python/requirements.txt',
  'test/clients/python/litellm/requirements.txt',
  'test/clients/python/vector_stores/requirements.txt',
  'examples/ray/requirements.txt',
  'examples/amplifiers/python/lsl-requirements.txt',
  'examples/amplifiers/python/brainflow-requirements.txt',
];

/** By hand, for golden files, training and comparisons: versions alone. */
const WITH_VERSIONS = [
  'test/parity/requirements.txt',
  'test/parity/recordings-requirements.txt',
  'models/training/eeg/requirements.txt',
  'models/training/sentiment/requirements.txt',
  'bench/peers/fastapi/requirements.txt',
  'bench/peers/fastapi/encoders-requirements.txt',
  'bench/peers/openvino/requirements.txt',
  'bench/peers/fastembed/requirements.txt',
  'bench/peers/node-ort/requirements.txt',
];

const CRATES = ['native', 'native/tokenizers/fuzz'];
const NPM = [
  '.',
  'docs',
  'bench/peers/node-ort',
  'examples/retrieval/store',
  'examples/retrieval/mastra',
  'examples/guard/middleware',
];

/** Requirements files that are there (of a package as it is installed, not all are). */
export function requirementFiles(root) {
  return [...WITH_HASHES, ...WITH_VERSIONS].filter((name) => fs.existsSync(path.join(root, name)));
}

/** What is wrong, a line each. */
export function lockProblems(root) {
  const there = (name) => fs.existsSync(path.join(root, name));
  return [
    ...NPM.filter((folder) => there(path.join(folder, 'package.json'))).flatMap((folder) =>
      npmProblems(root, folder),
    ),
    ...CRATES.filter(there).flatMap((folder) => cargoProblems(root, folder)),
    ...requirementFiles(root).flatMap((name) => requirementProblems(root, name)),
    ...wheelProblems(root),
  ];
}

function npmProblems(root, folder) {
  const at = path.join(root, folder);
  const { dependencies, devDependencies, allowScripts } = JSON.parse(
    fs.readFileSync(path.join(at, 'package.json'), 'utf8'),
  );
  const ranges = Object.entries({ ...dependencies, ...devDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    .map(
      ([name, version]) =>
        `${name}: "${version}" is no exact version; npm install --save-exact ${name}`,
    );
  const undecided = npmPackages(at)
    .filter(
      ({ name, runsAtInstallation }) =>
        runsAtInstallation && allowScripts && !(name in allowScripts),
    )
    .map(
      ({ name }) =>
        `${name}: wants to run a script at installation; say in allowScripts whether it may`,
    );
  const entries = npmPackages(at).flatMap(({ key, integrity, resolved }) => [
    ...(/^sha512-/.test(integrity ?? '')
      ? []
      : [`${key}: has no integrity of SHA-512; remove it from the file, and npm install`]),
    ...(resolved === undefined
      ? []
      : [
          `${key}: names where it was fetched from; npm install --omit-lockfile-registry-resolved writes the file without`,
        ]),
  ]);
  return [
    ...[...ranges, ...undecided].map(
      (problem) => `${path.join(folder, 'package.json')}: ${problem}`,
    ),
    ...entries.map((problem) => `${path.join(folder, 'package-lock.json')}: ${problem}`),
  ];
}

/** Cargo itself refuses a file without checksums, and one that would have to change. */
function cargoProblems(root, folder) {
  try {
    cargoMetadata(path.join(root, folder));
    return [];
  } catch (error) {
    const [message] = error.message.split('\n');
    return [
      `${path.join(folder, 'Cargo.lock')}: ${message}; cargo fetch there, and commit the file`,
    ];
  }
}

function requirementProblems(root, name) {
  return requirements(path.join(root, name)).flatMap(({ line, version, hashes }) => [
    ...(version ? [] : [`${name}: "${line}" is no exact version (NAME==VERSION)`]),
    ...(hashes.length === 0 && WITH_HASHES.includes(name)
      ? [`${name}: "${line}" has no hash (--hash=sha256:…)`]
      : []),
  ]);
}

function wheelProblems(root) {
  return wheels(root)
    .filter(
      ({ version, file, size, sha256 }) =>
        !(version && file && size > 0 && /^[0-9a-f]{64}$/.test(sha256 ?? '')),
    )
    .map(
      ({ platform, name }) =>
        `scripts/libtorch/libtorch.json: ${platform}: ${name} wants a version, a file, its size and its SHA-256`,
    );
}
