/**
 * Where wheels come from, by what people have already set for pip, uv and npm: variables first, then
 * the files of pip. What is not set anywhere: see `defaultIndex`.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Written by `npm run release` into the package; not in the repository. */
export const DEFAULT_INDEX_FILE = path.join(
  path.dirname(fileURLToPath(import.meta.url)),
  'default-index.txt',
);

/**
 * @returns { indexes (URLs, the first one first), folders (of wheels), proxy, noProxy, certificates
 *   (path of a PEM file) }; all but the first two may be undefined
 */
export function readSettings(env = process.env) {
  const pip = pipSettings(env);
  const first = (...values) => values.find((value) => value?.trim())?.trim();
  const words = (...values) => values.flatMap((value) => value?.split(/\s+/).filter(Boolean) ?? []);
  const isOff = /^(1|true|yes|on)$/i.test(pip('no-index') ?? '');
  const main = () =>
    first(pip('index-url'), env.UV_DEFAULT_INDEX, env.UV_INDEX_URL) ?? defaultIndex();
  const extra = words(pip('extra-index-url'), env.UV_INDEX, env.UV_EXTRA_INDEX_URL);
  return {
    indexes: isOff ? [] : [main(), ...extra].filter(Boolean).map(withoutName),
    folders: words(pip('find-links'), env.UV_FIND_LINKS).flatMap(folderOf),
    proxy: first(pip('proxy'), env.npm_config_https_proxy, env.npm_config_proxy),
    noProxy: first(env.NO_PROXY, env.no_proxy, env.npm_config_noproxy),
    certificates: first(
      pip('cert'),
      env.SSL_CERT_FILE,
      env.REQUESTS_CA_BUNDLE,
      env.npm_config_cafile,
    ),
  };
}

/**
 * The index of those who have set none: the one that the package was released with, else pip's own,
 * where pip is there. Undefined: nobody knows one.
 */
export function defaultIndex() {
  if (fs.existsSync(DEFAULT_INDEX_FILE)) return fs.readFileSync(DEFAULT_INDEX_FILE, 'utf8').trim();
  const env = { ...process.env, COLUMNS: '400' };
  const help = spawnSync('python3', ['-m', 'pip', 'download', '--help'], { encoding: 'utf8', env });
  return /--index-url\b[^(]*\(default (https?:[^\s)]+)\)/.exec(help.stdout ?? '')?.[1];
}

/** uv lets an index have a name: NAME=URL. */
function withoutName(index) {
  return index.replace(/^[\w.-]+=(?=https?:)/, '');
}

/** Folders of wheels; pages of links are not read. */
function folderOf(place) {
  const folder = place.startsWith('file:') ? fileURLToPath(place) : place.replace(/^~/, os.homedir);
  return fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? [folder] : [];
}

/** A function from an option's long name to its value: PIP_…, else the files, the last one first. */
function pipSettings(env) {
  const values = new Map();
  for (const file of pipFiles(env)) {
    for (const [key, value] of readPipFile(file)) values.set(key, value);
  }
  return (option) => env[`PIP_${option.toUpperCase().replaceAll('-', '_')}`] || values.get(option);
}

/** In pip's own order: global, of the user, of the virtual environment, named. */
function pipFiles(env) {
  const named = env.PIP_CONFIG_FILE;
  if (named === os.devNull) return [];
  const home = os.homedir();
  const directories = (env.XDG_CONFIG_DIRS || '/etc/xdg').split(':');
  const user = env.XDG_CONFIG_HOME || path.join(home, '.config');
  return [
    ...directories.reverse().map((folder) => path.join(folder, 'pip/pip.conf')),
    '/etc/pip.conf',
    path.join(home, '.pip/pip.conf'),
    path.join(user, 'pip/pip.conf'),
    ...(env.VIRTUAL_ENV ? [path.join(env.VIRTUAL_ENV, 'pip.conf')] : []),
    ...(named ? [named] : []),
  ];
}

/** [key, value] of the sections that concern downloads; as Python's configparser, indented lines go on. */
function readPipFile(file) {
  let text;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch {
    return []; // as pip: a file that is not there, or not for this user, says nothing
  }
  const found = { global: new Map(), download: new Map() };
  let section;
  let key;
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*([#;]|$)/.test(line)) continue;
    const header = /^\[(.+)\]/.exec(line);
    const pair = /^([\w-]+)\s*[=:]\s*(.*)$/.exec(line);
    if (header) section = found[header[1]];
    else if (pair) {
      key = pair[1].replaceAll('_', '-');
      section?.set(key, pair[2].trim());
    } else if (/^\s/.test(line) && section?.has(key)) {
      section.set(key, `${section.get(key)} ${line.trim()}`);
    }
  }
  return [...found.global, ...found.download];
}

/** An address as it may be shown: without a user's name and password. */
export function shown(address) {
  const url = new URL(address, pathToFileURL('/'));
  url.username = '';
  url.password = '';
  return url.href;
}
