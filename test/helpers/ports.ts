import net from 'node:net';

/** Below those that systems give to clients and to port 0, which could take it before it is used. */
const FIRST = 10_000;
const LAST = 30_000;

let next = FIRST + Math.floor(Math.random() * (LAST - FIRST));

/** One that nobody listens on, and that is not given again: its last user may have clients still. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = next === LAST ? FIRST : next + 1;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
