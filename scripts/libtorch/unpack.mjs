/** What is needed of a wheel, which is a zip file. */
import fs from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';
import { VERSION_HEADER } from './location.cjs';

const HEADERS = 'torch/include/';
const LICENCE = /^([^/]+)\.dist-info\/((?:.*\/)?(?:licen[cs]e|notice|copying)[^/]*)$/i;

/**
 * Copies headers, licences and libraries into `target`: include/ and lib/, the layout of the official
 * LibTorch archive, and licenses/, which whoever passes the libraries on has to pass on with them.
 * Names that lead out of the wheel are an error (yauzl looks at each).
 *
 * @param wanted { libraries (a Set of names), withHeaders: all of them, not only the one with the version }
 * @returns the names of the libraries that were found
 */
export async function unpack(wheel, target, wanted) {
  const found = [];
  const zip = await openPromise(wheel);
  for await (const entry of zip.eachEntry()) {
    const place = placeOf(entry.fileName, wanted);
    if (!place) continue;
    const file = path.join(target, place);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const output = fs.createWriteStream(file, { flags: 'wx', highWaterMark: 1 << 20 });
    await pipeline(await zip.openReadStreamPromise(entry), output);
    if (place.startsWith('lib/')) found.push(path.basename(place));
  }
  return found;
}

/** Where an entry goes in the target; undefined: it is not needed. */
function placeOf(name, { libraries, withHeaders }) {
  if (name.endsWith('/')) return undefined;
  if (name.startsWith(HEADERS)) {
    const place = path.join('include', name.slice(HEADERS.length));
    return withHeaders || place === VERSION_HEADER ? place : undefined;
  }
  const [folder, base] = name.split('/').slice(-2);
  if (folder === 'lib' && libraries.has(base)) return `lib/${base}`;
  const [, stem, rest] = LICENCE.exec(name) ?? [];
  return stem && path.join('licenses', stem, rest);
}
