// Holds the imports of src/ against its layering: who may import whom, that neither protocols nor tasks import
// each other, and that there is no circle of files. The folder to look at is the checkout, or the argument.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Each folder of src/ with those that it may import, from the ground up. "." are the files of src/ itself. */
const MAY_IMPORT = {
  lib: [],

  recordings: [],
  settings: [],
  files: ['lib', 'preprocessing', 'recordings'],
  native: ['lib'],
  client: ['lib', 'protocols', 'streaming'], // of protocols types alone; of streaming also places and times
  models: ['lib', 'native'],
  preprocessing: ['lib', 'models'],
  tasks: ['lib', 'files', 'models', 'native', 'preprocessing', 'recordings'],
  repository: ['lib', 'models', 'native', 'serving', 'settings', 'tasks'],
  serving: ['lib', 'native', 'settings'],
  services: ['lib', 'native', 'preprocessing', 'serving', 'tasks'],
  batches: ['lib', 'files', 'native', 'serving', 'settings'],
  protocols: ['batches', 'lib', 'native', 'serving', 'services', 'tasks'],
  streaming: [
    'lib',
    'native',
    'numeric',
    'preprocessing',
    'protocols',
    'recordings',
    'serving',
    'services',
    'tasks',
  ],
  grpc: ['lib', 'native', 'serving', 'protocols'],
  http: ['lib', 'native', 'serving', 'protocols'],
  embedded: ['lib', 'native', 'preprocessing', 'settings', 'tasks'],
  integrations: ['client', 'lib'],
  commands: null, // all of them
  '.': null,
  pages: ['.', 'lib', 'client', 'preprocessing', 'recordings', 'tasks', 'protocols'],
};
/** What lies in one folder below these imports nothing of the folder beside it, but of these. */
const SEPARATE = ['tasks', 'protocols'];
const SHARED = ['openapi', 'validation', 'calibration'];
/** But these, which combine what lies beside them: `guard` asks models of several tasks, `gliner2` has several. */
const COMBINING = ['tasks/guard', 'tasks/gliner2'];
/** Packages, and files of ours with the folders of their names, that only these folders import. */
const ONLY_IN = {
  express: ['http'],
  pino: ['serving', 'batches', 'grpc', 'http', 'streaming', 'repository', 'commands'],
  ws: ['http'],
  'src/native/binding': ['native'],
};

const root = process.argv[2] ?? path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const files = readdirSync(path.join(root, 'src'), { recursive: true })
  .map((name) => `src/${name}`)
  .filter((name) => /\.tsx?$/.test(name))
  .sort();
const imports = new Map(files.map((file) => [file, importsOf(file)]));
const problems = [...files.flatMap(problemsOf), ...circles()];
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** Files of ours as paths without an extension, packages by their names. */
function importsOf(file) {
  const text = readFileSync(path.join(root, file), 'utf8');
  const found = text.matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*'([^']+)'/g);
  return [...new Set([...found].map(([, name]) => resolve(file, name)))];
}

function resolve(file, name) {
  return name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name;
}

/** The folder of src/ in which a file lies, and the one below. */
function roomOf(file) {
  const parts = file.split('/').slice(1);
  return parts.length === 1
    ? ['.', undefined]
    : [parts[0], parts.length > 2 ? parts[1] : undefined];
}

function problemsOf(file) {
  const [folder, room] = roomOf(file);
  const allowed = MAY_IMPORT[folder];
  if (allowed === undefined)
    return [`${file}: give src/${folder} a line in scripts/check-imports.mjs`];
  return imports.get(file).flatMap((name) => {
    const [, only] =
      Object.entries(ONLY_IN).find(([key]) => name === key || name.startsWith(`${key}/`)) ?? [];
    const problems =
      only && !only.includes(folder) ? [`${file}: only ${only.join(', ')} may import ${name}`] : [];
    if (!name.startsWith('src/')) return problems;
    const [target, other] = roomOf(name);
    if (target !== folder && allowed !== null && !allowed.includes(target)) {
      problems.push(`${file}: src/${folder} may not import ${name}`);
    }
    const isShared = [room, other].some((one) => one === undefined || SHARED.includes(one));
    const isCombining = COMBINING.includes(`${folder}/${room}`);
    const isApart = SEPARATE.includes(folder) && room !== other && !isShared && !isCombining;
    if (target === folder && isApart) {
      problems.push(`${file}: ${room} and ${other} are to know nothing of each other`);
    }
    return problems;
  });
}

/** The circles of imports, each as one line. */
function circles() {
  const found = [];
  const done = new Set();
  const way = [];
  const visit = (file) => {
    const begin = way.indexOf(file);
    if (begin >= 0) found.push(`circle: ${[...way.slice(begin), file].join(' -> ')}`);
    if (begin >= 0 || done.has(file)) return;
    way.push(file);
    for (const name of imports.get(file)) {
      const next = [`${name}.ts`, `${name}.tsx`, `${name}/index.ts`, name].find((one) =>
        imports.has(one),
      );
      if (next) visit(next);
    }
    way.pop();
    done.add(file);
  };
  files.forEach(visit);
  return found;
}
