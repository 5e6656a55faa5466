/** A service over a directory of models, for measurements. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './load.mjs';
import { ROOT } from './paths.mjs';
import { freePort, startProcess } from './servers.mjs';

const READY = Buffer.from('GET /ready HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');

/** Resolves when all its required models are loaded: { port, pid, stop }. */
export async function startModels(directory) {
  const port = await freePort();
  const local = { HOST: '127.0.0.1', PORT: String(port), MAX_QUEUE_WAIT_MS: '60000' };
  const env = { ...process.env, ...local };
  const main = path.join(ROOT, 'dist/main.js');
  const { child, stop } = startProcess([process.execPath, main, 'models', directory], {
    env,
    stdio: 'ignore',
  });
  for (;;) {
    const connection = new Connection(port);
    const { status } = await connection.ask(READY);
    connection.close();
    if (status === 200) return { port, pid: child.pid, stop };
    if (child.exitCode !== null) throw new Error('the service ended: run npm run build');
    await sleep(50);
  }
}
