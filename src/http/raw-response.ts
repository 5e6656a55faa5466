import http from 'node:http';
import { ERRORS, type ErrorCode } from '../serving/errors';

/** HTTP/1.1 error response as text, for connections without a response object: invalid HTTP, or an upgrade. */
export function rawResponse(code: ErrorCode, detail: string, headers = ''): string {
  const status = ERRORS[code].http;
  const body = JSON.stringify({ detail });
  return (
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n` +
    `Content-Type: application/json; charset=utf-8\r\nX-Error-Code: ${code}\r\n${headers}` +
    `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  );
}
