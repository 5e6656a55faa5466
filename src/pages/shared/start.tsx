import { type ComponentChild, render } from 'preact';
import { loadInfo } from './info';
import { startTheme } from './theme';
import './base.css';
import './layout.css';
import './result.css';

/** Shows a page and asks the service what it serves. */
export function start(page: ComponentChild): void {
  startTheme();
  render(page, document.getElementById('app') as HTMLElement);
  loadInfo().catch(reportError);
}
