import { once } from 'node:events';
import { type FileHandle, open, rm } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';

const NAME = '.lock';

/**
 * Lock of a directory: a Unix domain socket that a process listens on. It ends with the process, also after a crash, and
 * works between containers that share a volume of one machine, whose process IDs are not comparable.
 */
export class DirectoryLock {
  readonly #server: net.Server;
  readonly #folder: FileHandle;

  private constructor(server: net.Server, folder: FileHandle) {
    this.#server = server;
    this.#folder = folder;
  }

  /** @returns null if another process holds the lock */
  static async take(directory: string): Promise<DirectoryLock | null> {
    const folder = await open(directory, 'r');
    // Paths of sockets have at most 107 bytes; a path through the descriptor is short.
    const address = `/proc/self/fd/${folder.fd}/${NAME}`;
    let server = await listen(address);
    if (!server && !(await isListening(address))) {
      await rm(path.join(directory, NAME), { force: true });
      server = await listen(address);
    }
    if (!server) {
      await folder.close();
      return null;
    }
    return new DirectoryLock(server.unref(), folder);
  }

  /** Removes the socket. */
  async release(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#folder.close();
  }
}

/** @returns null if the socket exists */
async function listen(address: string): Promise<net.Server | null> {
  const server = net.createServer((socket) => socket.destroy());
  server.listen(address);
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return null;
  }
}

async function isListening(address: string): Promise<boolean> {
  const socket = net.connect(address);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
