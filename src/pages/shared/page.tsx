import { type ComponentChild, type ComponentType, render } from 'preact';
import { loadInfo } from './info';
import { Shell } from './shell';
import { startTheme } from './theme';
import './base.css';
import './layout.css';
import './result.css';

/** Renders a page and requests `/info` from the server. */
export function start(page: ComponentChild): void {
  startTheme();
  render(page, document.getElementById('app') as HTMLElement);
  loadInfo().catch(reportError);
}

/**
 * Renders the page of one task: the form on one side, the result on the other.
 *
 * @param Below full-width content below both
 */
export function startTaskPage(
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
