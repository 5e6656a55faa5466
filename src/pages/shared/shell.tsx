import type { ComponentChildren } from 'preact';
import { info, infoProblem, loadInfo } from './info';
import { isKeyAsked, key } from './key';
import { KeyForm } from './key-form';
import { ErrorNote, Note } from './note';
import { atService } from './service';
import { switchTheme, theme } from './theme';

interface ShellProps {
  readonly title: string;
  /** A line that stays in sight. */
  readonly banner?: ComponentChildren;
  /** In place of the model's. */
  readonly badge?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** What surrounds each page: its name, the model, the theme; below, where to read on. */
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
        {isKeyAsked.value && <KeyForm />}
        <ModelProblem />
        {children}
      </main>
      <footer class="bottom">
        <nav class="wide" aria-label="About this service">
          <span>libtorch-serve {info.value?.version}</span>
          {allModels() !== null && <a href={allModels() as string}>All models</a>}
          <a href={atService('docs')}>API</a>
          {key.value === null && !isKeyAsked.value && <OpenLinks />}
          <a href="licenses.txt">Licences</a>
        </nav>
      </footer>
    </>
  );
}

/** What a link cannot show where a key is needed. */
function OpenLinks() {
  return (
    <>
      <a href={atService('info')}>Model and limits</a>
      {!isOfMany() && <a href={atService('metrics')}>Metrics</a>}
    </>
  );
}

/** Where the list of models is, from a page that is another one. */
function allModels(): string | null {
  if (isOfMany()) return '../../';
  const service = atService('');
  return service === './' ? null : service;
}

/** A page of one of several models: what is counted of all is not below its address. */
function isOfMany(): boolean {
  return info.value?.service === 'models' && info.value.model !== undefined;
}

function ModelBadge() {
  const model = info.value?.model;
  if (!model) {
    const problem = isKeyAsked.value ? 'Key needed' : 'No answer';
    return <span class="badge">{infoProblem.value ? problem : 'Asking…'}</span>;
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
      {infoProblem.value && !isKeyAsked.value && (
        <ErrorNote explanation={infoProblem.value} onRetry={loadInfo} />
      )}
      {model?.loaded === false && (
        <Note
          tone="bad"
          title="The model is not loaded, so nothing can be computed here."
          detail={model.reason}
        >
          Mend what is named below and start the service again.
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
