import http from 'node:http';

/** An error for a connection that has no response object: no request was read on it, or it was to be upgraded. */
export function rawResponse(status: number, detail: string, headers = ''): string {
  const body = JSON.stringify({ detail });
  return (
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n` +
    `Content-Type: application/json; charset=utf-8\r\n${headers}` +
    `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  );
}
