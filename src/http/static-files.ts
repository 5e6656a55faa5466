import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Request, RequestHandler, Response } from 'express';
import { endResponse } from './http-request-context';

/** Pages load only their own files, without inline scripts and styles. */
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

/** Precompressed files that the build creates, in order of preference. */
const ENCODINGS = [
  { encoding: 'br', suffix: '.br' },
  { encoding: 'gzip', suffix: '.gz' },
] as const;

/** File name with esbuild's content hash, such as `main-4F2KQX7A.js`: cached forever. */
const HASHED_NAME = /-[0-9A-Z]{8}\.\w+$/;

/** A file, uncompressed or compressed. */
interface Form {
  /** Undefined: uncompressed. */
  readonly encoding: 'br' | 'gzip' | undefined;
  readonly bytes: Buffer;
  /** Computed at the first request: hashing all files would slow down every start. */
  etag?: string;
}

/** One file of a page, held in memory. */
export interface StaticFile {
  /** URL path, such as `/main-4F2KQX7A.js`. */
  readonly path: string;
  readonly contentType: string;
  readonly cacheControl: string;
  /** The first form that the client accepts is sent; the last is uncompressed. */
  readonly forms: readonly Form[];
}

/**
 * Reads all files of a folder and its subfolders into memory, because requests must not read files.
 *
 * @param at URL path of the folder's index.html; other files are below it
 * @throws the system's error if the folder cannot be read; Error for a file extension without a content type
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
        if (contentType === undefined)
          throw new Error(`${name}: its extension has no content type`);
        const file = path.join(folder, name);
        const compressed = ENCODINGS.filter(({ suffix }) => present.has(name + suffix)).map(
          async ({ encoding, suffix }): Promise<Form> => ({
            encoding,
            bytes: await readFile(file + suffix),
          }),
        );
        return {
          path: urlPath(at, name),
          contentType,
          cacheControl: HASHED_NAME.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
          forms: [
            ...(await Promise.all(compressed)),
            { encoding: undefined, bytes: await readFile(file) },
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

/** GET and HEAD of one file: the form that the client accepts, or 304 if the client has it. */
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
    endResponse(response, form.bytes); // for HEAD, Node sends only the headers
  };
}
