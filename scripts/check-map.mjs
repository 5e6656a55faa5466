// Holds the layout in ARCHITECTURE.md against the tree. Where the layout shows one folder inside of
// another one, it has to show all that lie there; what it names has to exist.
// The folder to look at is the checkout, or the argument.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const PAGE = 'ARCHITECTURE.md';
const root = process.argv[2] ?? path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

const { folders, files } = readLayout(readFileSync(path.join(root, PAGE), 'utf8'));
const tree = foldersOf(root);
const missing = [...tree].filter((folder) => isShown(folder) && !folders.has(folder));
const gone = [
  ...[...folders].filter((folder) => !tree.has(folder)).map((folder) => `${folder}/`),
  ...files.filter((file) => !existsSync(path.join(root, file))),
];
const problems = [
  ...missing.map((folder) => `${folder}/ exists; give it a line in the layout`),
  ...gone.map((name) => `${name} does not exist; take its line out of the layout`),
];
for (const problem of problems.sort()) console.error(`${PAGE}: ${problem}`);
if (problems.length > 0) process.exitCode = 1;

/** The layout shows other folders beside this one. The root's are shown always. */
function isShown(folder) {
  const parent = path.posix.dirname(folder);
  return parent === '.' || [...folders].some((other) => path.posix.dirname(other) === parent);
}

/**
 * What the block below "## Layout" names: a line begins with one or more names and commas between
 * them; folders end in a slash. Two more spaces at its beginning: inside of the folder above.
 */
function readLayout(page) {
  const block = /^## Layout$.*?^```text$(.*?)^```$/ms.exec(page)?.[1];
  if (block === undefined) throw new Error(`${PAGE}: there is no text block below "## Layout"`);
  const layout = { folders: new Set(), files: [] };
  const above = [];
  for (const line of block.split('\n').filter(Boolean)) {
    const [, indent = '', list = ''] = /^( *)([^\s,]+(?:, [^\s,]+)*)/.exec(line) ?? [];
    const depth = indent.length / 2;
    if (!Number.isInteger(depth) || depth > above.length) {
      throw new Error(`${PAGE}: this line of the layout is indented under no folder: ${line}`);
    }
    above.length = depth;
    for (const name of list.split(', ')) {
      const place = [...above, name].join('');
      if (name.endsWith('/')) layout.folders.add(place.slice(0, -1));
      else layout.files.push(place);
    }
    if (list.endsWith('/')) above.push(list.split(', ').at(-1));
  }
  return layout;
}

/** All folders with a file that git has or would take. */
function foldersOf(folder) {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const output = execFileSync('git', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const found = new Set();
  for (const file of output.split('\0').filter((name) => existsSync(path.join(folder, name)))) {
    for (let at = path.posix.dirname(file); at !== '.'; at = path.posix.dirname(at)) found.add(at);
  }
  return found;
}
