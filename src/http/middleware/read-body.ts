import { isUtf8 } from 'node:buffer';
import express, {
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { ServiceError } from '../../serving/errors';
import type { Turns } from '../../serving/turns';
import { isTooDeep, MOST_LEVELS } from './json-depth';

/** `application/json` or `application/<anything>+json`, and what follows. */
const JSON_MEDIA_TYPE = /^application\/(?:[\w.!#$&^-]+\+)?json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;
const BYTE_ORDER_MARK = '\ufeff';

/** Reads the body, at most `limit` bytes of it after decompression. No body: an empty Buffer. */
export function readBytes(limit: number, turns: Turns): RequestHandler {
  const read = express.raw({ type: () => true, limit });
  return (request: Request, response: Response, next: NextFunction) => {
    read(request, response, (error?: unknown) => {
      if (error) return next(error);
      request.body ??= Buffer.alloc(0);
      turns.proceed(next);
    });
  };
}

/** The same, and parses it as JSON. */
export function readJson(limit: number, turns: Turns): RequestHandler {
  const read = express.raw({ type: () => true, limit });
  return (request: Request, response: Response, next: NextFunction) => {
    requireJsonMediaType(request.headers['content-type']);
    read(request, response, (error?: unknown) => {
      if (error) return next(error);
      turns.proceed(() => {
        try {
          request.body = parseJson(request.body);
        } catch (problem) {
          return next(problem);
        }
        next();
      });
    });
  };
}

/** A body without a Content-Type is taken for JSON. */
function requireJsonMediaType(type: string | undefined): void {
  if (!type || type === 'application/json') return;
  if (!JSON_MEDIA_TYPE.test(type)) {
    throw new ServiceError('MEDIA_TYPE_UNSUPPORTED', 'The Content-Type must be application/json.');
  }
  const charset = CHARSET.exec(type)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new ServiceError('MEDIA_TYPE_UNSUPPORTED', 'The charset of JSON must be utf-8.');
  }
}

/** @throws ServiceError BODY_INVALID: says what is wrong with it */
export function parseJson(bytes: unknown): unknown {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    throw new ServiceError('BODY_INVALID', 'body: is required');
  }
  // Decoding would put U+FFFD in the place of what is not UTF-8.
  if (!isUtf8(bytes)) throw new ServiceError('BODY_INVALID', 'body: is not valid UTF-8');
  if (isTooDeep(bytes)) {
    throw new ServiceError('BODY_INVALID', `body: is nested over ${MOST_LEVELS} levels deep`);
  }
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  } catch (error) {
    throw new ServiceError('BODY_INVALID', `body: is not valid JSON${position(error)}`);
  }
}

/** V8's message also quotes the body, which has no place in an answer. */
function position(error: unknown): string {
  const digits = / at position (\d+)/.exec((error as SyntaxError).message)?.[1];
  return digits === undefined ? '' : ` (at position ${digits})`;
}
