import type { ComponentChildren } from 'preact';
import { isKeyRequired, key } from './api-key';
import { KeyForm } from './api-key-form';
import { serviceUrl } from './client';
import { info, infoProblem, isModelOfRepository, loadInfo } from './info';
import { ErrorNote, Note } from './note';
import { switchTheme, theme } from './theme';

interface ShellProps {
  readonly title: string;
  /** Line below the header that stays visible. */
  readonly banner?: ComponentChildren;
  /** Replaces the badge of the model. */
  readonly badge?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Header and footer of a page: title, model badge, theme switch, links. */
export function Shell({ title, banner, badge, children }: ShellProps) {
  return (
    <>
      <header class="top">
        <div class="bar wide">
          <div class="brand">
            <img src="icon.svg" alt="" />
            <h1>{title}</h1>
          </div>
          {badge ?? <ModelBadge />}
          <ThemeSwitch />
        </div>
        {banner && (
          <div class="demonstration">
            <p class="wide">{banner}</p>
          </div>
        )}
      </header>
      <main class="wide">
        {isKeyRequired.value && <KeyForm />}
        <ModelProblem />
        {children}
      </main>
      <footer class="bottom">
        <nav class="wide" aria-label="About this service">
          <span>libtorch-serve {info.value?.version}</span>
          {modelListUrl() !== null && <a href={modelListUrl() as string}>All models</a>}
          {isModelOfRepository() && serviceUrl('') !== './' && (
            <a href={serviceUrl('')}>Model page</a>
          )}
          <a href={serviceUrl('docs')}>API</a>
          {key.value === null && !isKeyRequired.value && <KeylessLinks />}
          <a href="licenses.txt">Licenses</a>
        </nav>
      </footer>
    </>
  );
}

/** Links that work only without an API key: a link sends no key. */
function KeylessLinks() {
  return (
    <>
      <a href={serviceUrl('info')}>Model info</a>
      {!isModelOfRepository() && <a href={serviceUrl('metrics')}>Metrics</a>}
    </>
  );
}

/** URL of the list of models; null on the list itself and on servers with one model. */
function modelListUrl(): string | null {
  if (isModelOfRepository()) return serviceUrl('../../');
  const service = serviceUrl('');
  return service === './' ? null : service;
}

function ModelBadge() {
  const model = info.value?.model;
  if (!model) {
    const problem = isKeyRequired.value ? 'API key required' : 'No response';
    return <span class="badge">{infoProblem.value ? problem : 'Loading…'}</span>;
  }
  return (
    <span class="badge">
      <span class={`dot ${model.loaded ? 'good' : 'bad'}`} aria-hidden="true" />
      <span>
        {model.name}
        {model.version !== null && <span class="quiet"> {model.version}</span>}
        {!model.loaded && ' (not loaded)'}
        {model.loaded && <span class="visually-hidden"> is loaded</span>}
      </span>
    </span>
  );
}

function ModelProblem() {
  const model = info.value?.model;
  return (
    <div role="status" class="status-region">
      {infoProblem.value && !isKeyRequired.value && (
        <ErrorNote explanation={infoProblem.value} onRetry={loadInfo} />
      )}
      {model?.loaded === false && (
        <Note tone="bad" title="The model is not loaded." detail={model.reason}>
          Fix the error below and restart the server.
        </Note>
      )}
    </div>
  );
}

function ThemeSwitch() {
  const isDark = theme.value === 'dark';
  return (
    <button
      type="button"
      class="icon-button"
      role="switch"
      aria-checked={isDark}
      aria-label="Dark theme"
      title={isDark ? 'Light theme' : 'Dark theme'}
      onClick={switchTheme}
    >
      <svg
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        stroke-width="2"
        aria-hidden="true"
      >
        {isDark ? (
          <path d="M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z" stroke-linejoin="round" />
        ) : (
          <g stroke-linecap="round">
            <circle cx="12" cy="12" r="4" />
            <path d="M12 2v2M12 20v2M2 12h2M20 12h2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4" />
          </g>
        )}
      </svg>
    </button>
  );
}
