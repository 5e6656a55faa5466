import type { ComponentType } from 'preact';
import { Shell } from './shell';
import { start } from './start';

/**
 * Shows a page that asks a model on one side, and has the answer on the other.
 *
 * @param Below both of them: what is wide
 */
export function startTask(
  title: string,
  Composer: ComponentType,
  Results: ComponentType,
  Below?: ComponentType,
): void {
  start(
    <Shell title={title}>
      <div class="columns">
        <Composer />
        <Results />
      </div>
      {Below && <Below />}
    </Shell>,
  );
}
