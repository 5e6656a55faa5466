/**
 * Writes docs/reference/js-api with TypeDoc, from the public modules of src. Installs the packages of docs/ if missing.
 *
 *   node scripts/api-reference.mjs           writes
 *   node scripts/api-reference.mjs --check   exits with 1 if a page is out of date
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const DOCS = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../docs');
const PAGES = path.join(DOCS, 'reference/js-api');

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: DOCS, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
}

function readPages(folder) {
  return Object.fromEntries(
    fs.readdirSync(folder).map((name) => [name, fs.readFileSync(path.join(folder, name), 'utf8')]),
  );
}

if (!fs.existsSync(path.join(DOCS, 'node_modules/typedoc'))) run('npm', ['ci', '--ignore-scripts']);
const isCheck = process.argv.includes('--check');
const output = isCheck ? fs.mkdtempSync(path.join(os.tmpdir(), 'js-api-')) : PAGES;
run('npx', ['typedoc', '--out', output]);
if (isCheck) {
  const [current, committed] = [readPages(output), readPages(PAGES)];
  fs.rmSync(output, { recursive: true });
  if (JSON.stringify(current) !== JSON.stringify(committed)) {
    console.error('docs/reference/js-api: out of date. Run "npm run references"');
    process.exitCode = 1;
  }
}
