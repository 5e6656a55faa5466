import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Request, RequestHandler, Response } from 'express';
import { endResponse } from './send';

/** Nothing from elsewhere, nothing inline: a page can only do what its own files say. */
const CONTENT_SECURITY_POLICY =
  "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; object-src 'none'";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** Compressed forms that the build may leave beside a file, in order of preference. */
const ENCODINGS = [
  { encoding: 'br', suffix: '.br' },
  { encoding: 'gzip', suffix: '.gz' },
] as const;

/** `main-4F2KQX7A.js`: the name changes with the content (esbuild's hash), so it never goes stale. */
const HASHED_NAME = /-[0-9A-Z]{8}\.\w+$/;

/** A file as it is, or compressed. */
interface Form {
  /** Undefined: as it is. */
  readonly encoding: 'br' | 'gzip' | undefined;
  readonly bytes: Buffer;
  /** Of its first answer on: hashing all files would make every start slower. */
  etag?: string;
}

/** One file of a page, held in memory. */
export interface StaticFile {
  /** Of its URL, such as `/main-4F2KQX7A.js`. */
  readonly path: string;
  readonly contentType: string;
  readonly cacheControl: string;
  /** The first that a client accepts is sent; the last one is the file as it is. */
  readonly forms: readonly Form[];
}

/**
 * Reads what the build left in a folder, subfolders included. It is done by libuv's threads, beside
 * the loading of the model.
 *
 * @param at path of the URL that answers with the folder's index.html; its other files are below
 * @throws the system's error when the folder cannot be read; Error for a kind of file that has no
 *   content type here
 */
export async function readStaticFiles(folder: string, at: string): Promise<readonly StaticFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)));
  const present = new Set(names);
  return Promise.all(
    names
      .filter((name) => !ENCODINGS.some(({ suffix }) => name.endsWith(suffix)))
      .map(async (name) => {
        const contentType = CONTENT_TYPES[path.extname(name)];
        if (contentType === undefined) throw new Error(`${name}: no content type is known for it`);
        const place = path.join(folder, name);
        const packed = ENCODINGS.filter(({ suffix }) => present.has(name + suffix)).map(
          async ({ encoding, suffix }): Promise<Form> => ({
            encoding,
            bytes: await readFile(place + suffix),
          }),
        );
        return {
          path: urlPath(at, name),
          contentType,
          cacheControl: HASHED_NAME.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
          forms: [
            ...(await Promise.all(packed)),
            { encoding: undefined, bytes: await readFile(place) },
          ],
        };
      }),
  );
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}

function urlPath(at: string, name: string): string {
  return name === 'index.html' ? at : `${at.replace(/\/$/, '')}/${name.replaceAll(path.sep, '/')}`;
}

/** GET and HEAD of one file: the form that the client accepts, or 304 when it has that already. */
export function serveStaticFile(file: StaticFile): RequestHandler {
  return (request: Request, response: Response) => {
    const form = file.forms.find(
      ({ encoding }) => encoding === undefined || request.acceptsEncodings(encoding),
    ) as Form;
    response.setHeader('Cache-Control', file.cacheControl);
    form.etag ??= etagOf(form.bytes);
    response.setHeader('ETag', form.etag);
    response.vary('Accept-Encoding');
    response.setHeader('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Referrer-Policy', 'no-referrer');
    if (request.fresh) {
      endResponse(response.status(304), undefined);
      return;
    }
    if (form.encoding !== undefined) response.setHeader('Content-Encoding', form.encoding);
    response.setHeader('Content-Type', file.contentType);
    response.setHeader('Content-Length', form.bytes.length);
    endResponse(response, form.bytes); // of a HEAD, Node sends the headers alone
  };
}
