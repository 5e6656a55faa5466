import net, { type AddressInfo } from 'node:net';
import type { Address } from './http';

/** Lies between a client and a service, and does to their connections what networks do. */
export class TcpProxy {
  /** To which connections go that are made from now on. */
  target: Address;
  /** Connections that were made. */
  count = 0;
  readonly #server: net.Server;
  readonly #open = new Set<readonly [net.Socket, net.Socket]>();

  private constructor(target: Address) {
    this.target = target;
    this.#server = net.createServer((client) => this.#connect(client));
  }

  static async start(target: Address): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** All that are open break. */
  cut(): void {
    for (const pair of this.#open) for (const socket of pair) socket.destroy();
  }

  /** On all that are open nothing goes on, and neither side is told. */
  freeze(): void {
    for (const [client, service] of this.#open) {
      client.unpipe(service).pause();
      service.unpipe(client).pause();
    }
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #connect(client: net.Socket): void {
    this.count++;
    const service = net.connect(this.target.port, '127.0.0.1');
    const pair = [client, service] as const;
    this.#open.add(pair);
    client.pipe(service).pipe(client);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#open.delete(pair);
        for (const other of pair) other.destroy();
      });
    }
  }
}
