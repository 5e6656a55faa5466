/**
 * The least that an HTTP server in Node can do: 503 to whatever comes, with the headers and the size of a
 * refusal of the service. Says its port on standard output. Loopback only.
 *
 * Usage: node bench/refuser.mjs
 */
import http from 'node:http';

const BODY = JSON.stringify({
  detail: 'The wait would be about 1100 ms, over the limit of 1000 ms.',
});
const HEADERS = {
  'X-Request-Id': '00000000-0000-4000-8000-000000000000',
  'Retry-After': '2',
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': Buffer.byteLength(BODY),
};

const server = http.createServer((_request, response) => {
  response.writeHead(503, HEADERS);
  response.end(BODY);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  process.stdout.write(`${server.address().port}\n`);
});
