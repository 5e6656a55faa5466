import http from 'node:http';

/** HTTP/1.1 error response as text, for connections without a response object: invalid HTTP, or an upgrade. */
export function rawResponse(status: number, detail: string, headers = ''): string {
  const body = JSON.stringify({ detail });
  return (
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n` +
    `Content-Type: application/json; charset=utf-8\r\n${headers}` +
    `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  );
}
