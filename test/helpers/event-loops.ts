import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Folder } from './files';
import type { Answer } from './http';
import type { LogLine, ProcessOptions, Service } from './service';
import { until } from './until';

const BLOCK = path.join(__dirname, '..', 'http', 'scripts', 'block-loops.cjs');

/** The event loop that wrote each line of a route; 0: that of the main thread. */
export function loopsOf(logs: readonly LogLine[], route: string): readonly number[] {
  return logs
    .filter((line) => line.msg === 'request' && line.route === route)
    .map(({ eventLoop }) => Number(eventLoop ?? 0));
}

/**
 * Asks on new connections, which the kernel hands to whoever takes them first, until each of so many event
 * loops has answered; resolves with all answers. Nobody else may ask that route meanwhile.
 */
export async function askAll(
  service: Service,
  { route, loops }: { readonly route: string; readonly loops: number },
  ask: () => Promise<Answer>,
): Promise<readonly Answer[]> {
  const { length: before } = loopsOf(service.logs, route);
  const answers: Answer[] = [];
  const seen = () => loopsOf(service.logs, route).slice(before);
  await until(`${loops} event loops to answer ${route}`, async () => {
    answers.push(...(await Promise.all(Array.from({ length: 16 }, ask))));
    while (seen().length < answers.length) await service.nextOutput();
    return new Set(seen()).size >= loops;
  });
  return answers;
}

/** Blocks event loops of a service that is started with its settings. */
export class LoopBlocker {
  readonly #folder = new Folder();
  readonly nodeArgs = ['--require', BLOCK];
  readonly env: NonNullable<ProcessOptions['env']> = { BLOCK_FOLDER: this.#folder.path };

  /** Resolves when these event loops do nothing any more. */
  async block(...loops: readonly number[]): Promise<void> {
    for (const loop of loops) this.#folder.put(`block-${loop}`, '');
    await this.#until(loops, true);
  }

  /** Resolves when they go on. */
  async release(...loops: readonly number[]): Promise<void> {
    for (const loop of loops) rmSync(path.join(this.#folder.path, `block-${loop}`));
    await this.#until(loops, false);
  }

  remove(): void {
    this.#folder.remove();
  }

  async #until(loops: readonly number[], isBlocked: boolean): Promise<void> {
    for (const loop of loops) {
      const place = path.join(this.#folder.path, `blocked-${loop}`);
      const what = `event loop ${loop} to ${isBlocked ? 'stop' : 'go on'}`;
      await until(what, () => existsSync(place) === isBlocked);
    }
  }
}
