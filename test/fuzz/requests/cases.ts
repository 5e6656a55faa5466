import type { Draw } from '../draw';
import { makeString } from '../strings';
import type { Operations } from './api';
import { makeBody } from './bodies';
import { encode } from './encodings';
import { frame } from './framing';
import { type Expected, expectationOf } from './oracle';
import type { Route } from './routes';

/** A request as it goes out, and what must come back. */
export interface Case {
  /** Kind of request, for the report. */
  readonly what: string;
  /** Its X-Request-Id, which the answer must carry. */
  readonly id: string;
  readonly method: string;
  /** Without a query. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly expected: Expected;
}

export interface CaseOptions {
  readonly draw: Draw;
  /** Of the service. */
  readonly routes: readonly Route[];
  /** All paths of the service, and by method the operations that each has. */
  readonly paths: ReadonlyMap<string, Operations>;
  readonly bodyLimit: number;
}

const JSON_TYPES: readonly (string | null)[] = [
  ...['application/json', 'application/json', 'application/json; charset=utf-8', null],
  ...['APPLICATION/JSON', 'application/json;charset="UTF-8"', 'application/problem+json'],
  ...['application/json; x=y', 'application/vnd.a.b-c+json ; charset=utf8', ''],
];
const OTHER_TYPES: readonly string[] = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
  ...['application/jsonp', 'application/json; charset=utf-16', 'application/json;charset=latin1'],
  ...['text/json', 'application/json/x', '*/*', ';', 'json', 'application/+json'],
];
const BAD_TIMEOUTS = ['0', '-1', '1.5', '1e3', 'soon', '', '+5', '0x10', '1, 2'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND'];
const OTHER_PATHS: readonly string[] = [
  ...[
    '/other',
    '/analyze/',
    '/Analyze',
    '/analyze/batch/',
    '//analyze',
    '/predict%2fbatch',
    '/%zz',
  ],
  ...['/health/', '/../health', '/docs/', '/docs/../docs', '/..%2f..%2fetc/passwd', '/.env', '*'],
  ...['/index.html', '/__proto__', '/constructor', '/analyze;x=1', '/\\', '/analyze%00', '/docs/x'],
];
/** Headers that change nothing. */
const NOISE: readonly string[] = [
  ...[
    'Accept: text/html',
    'Accept: application/xml;q=0.1',
    'Accept-Encoding: br;q=1',
    'Cookie: a=b',
  ],
  ...['Range: bytes=0-1', 'If-Modified-Since: now', 'Origin: null', 'X-HTTP-Method-Override: GET'],
  ...['X-Forwarded-For: 127.0.0.1', 'X-Forwarded-Host: evil', 'Forwarded: for=_x', 'Via: 1.1 x'],
  ...['traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'traceparent: 00-x'],
  ...['tracestate: =,=,,', 'Content-MD5: x', 'TE: trailers', 'Expect: 100-continue', 'Expect: x'],
  ...['Authorization: Basic Og==', 'Max-Forwards: 0', 'Connection: keep-alive', 'Keep-Alive: -1'],
  ...['Upgrade: websocket', 'Connection: Upgrade, HTTP2-Settings', '__proto__: x', 'X-E: \xff\x80'],
  ...[
    'X-Request-Timeout-Ms: 99999999999999999999',
    'X-Request-Timeout-Ms: 600000',
    'X-Tab: \t\t x',
  ],
];

/** Any request to a service: mostly bodies for its analysis routes, as they should be and as not. */
export function makeCase(options: CaseOptions, id: string): Case {
  return options.draw.chance(0.94) ? makeAnalysis(options, id) : makeOther(options, id);
}

function makeAnalysis(options: CaseOptions, id: string): Case {
  const { draw, routes, bodyLimit } = options;
  const route = draw.pick(routes);
  const body = makeBody(draw, route, id);
  const encoded = draw.chance(0.06) ? encode(draw, body.bytes, bodyLimit) : null;
  const headers: string[] = [`X-Request-Id: ${id}`, ...noise(draw)];
  if (encoded?.header) headers.push(`Content-Encoding: ${encoded.header}`);
  const type = draw.chance(0.03) ? draw.pick(OTHER_TYPES) : draw.pick(JSON_TYPES);
  if (type !== null) headers.push(`Content-Type: ${type}`);
  const timeout = draw.chance(0.01) ? draw.pick(BAD_TIMEOUTS) : null;
  if (timeout !== null) headers.push(`X-Request-Timeout-Ms: ${timeout}`);
  const target = draw.chance(0.02) ? strangeTarget(draw, route.path) : route.path;
  const sent = encoded?.bytes ?? body.bytes;
  return {
    what: encoded?.what ?? body.what,
    id,
    method: 'POST',
    path: route.path,
    bytes: frame(draw, `POST ${target}`, headers, sent),
    expected: expectationOfRequest({ timeout, type, encoded, body: body.bytes, route, bodyLimit }),
  };
}

interface Parts {
  readonly timeout: string | null;
  readonly type: string | null;
  readonly encoded: ReturnType<typeof encode> | null;
  readonly body: Buffer;
  readonly route: Route;
  readonly bodyLimit: number;
}

/** In the order in which the service looks. */
function expectationOfRequest(parts: Parts): Expected {
  const { timeout, type, encoded, body, route, bodyLimit } = parts;
  if (timeout !== null) return { status: 400, detail: /^X-Request-Timeout-Ms: expected a whole/ };
  if (type !== null && OTHER_TYPES.includes(type))
    return { status: 415, detail: /^The (Con|char)/ };
  if (encoded?.expected) return encoded.expected;
  const bytes = encoded?.decoded ?? body;
  return bytes.length > bodyLimit
    ? { status: 413, detail: /^The body exceeds the limit of \d+ bytes\.$/ }
    : expectationOf(bytes, route);
}

/** Everything that is no analysis: other methods, other paths. */
function makeOther(options: CaseOptions, id: string): Case {
  const { draw, paths } = options;
  const method = draw.pick(METHODS);
  const path = draw.pick(draw.chance(0.7) ? [...paths.keys()] : OTHER_PATHS);
  const headers = [`X-Request-Id: ${id}`, ...noise(draw)];
  // A body where none is expected, which looks like a request.
  const body = draw.chance(0.5) ? Buffer.alloc(0) : Buffer.from('GET /smuggled HTTP/1.1\r\n\r\n');
  const target = draw.chance(0.2) ? strangeTarget(draw, path) : path;
  return {
    what: 'another method or path',
    id,
    method,
    path,
    bytes: frame(draw, `${method} ${target}`, headers, body),
    expected: { status: statusOf(method, paths.get(path)) },
  };
}

/** @param operations of its path; undefined: there is none */
function statusOf(method: string, operations: Operations | undefined): number {
  if (!operations) return 404;
  if (method === 'OPTIONS') return 204;
  // The Open Inference Protocol has no 422.
  if (method === 'POST' && operations.post) return '422' in operations.post.responses ? 422 : 400;
  return (method === 'GET' || method === 'HEAD') && operations.get ? 200 : 405;
}

/** Another way to write the same path. */
function strangeTarget(draw: Draw, path: string): string {
  if (!path.startsWith('/')) return path;
  const query = makeString(draw, 40).replaceAll(/[^!-"$-~]/g, '%0');
  return draw.pick([
    `${path}?${query}`,
    `${path}?__proto__[x]=1&a[]=2`,
    `${path}#fragment`,
    `http://any.host${path}`,
    `HTTPS://[::1]:99999${path}?x`,
    `http://xn--a${path}`,
    `http://[::1${path}`,
  ]);
}

function noise(draw: Draw): readonly string[] {
  if (!draw.chance(0.2)) return [];
  const lines = draw.list(draw.size(4), () => draw.pick(NOISE));
  // A header that is sent twice is another one.
  return [...new Map(lines.map((line) => [line.split(':')[0], line])).values()];
}
