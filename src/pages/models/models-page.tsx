import type { ModelsInfo } from '../../protocols/own/info';
import { info, loadInfo } from '../shared/info';
import { start } from '../shared/page';
import { Shell } from '../shared/shell';
import './models.css';

type ListedModel = ModelsInfo['models'][number];

/** Interval of the requests for `/info`: models load and unload while the page is open. */
const REFRESH_INTERVAL_MS = 2000;

function ModelsPage() {
  const { models, guard } = (info.value as ModelsInfo | null) ?? {};
  return (
    <Shell title="Models" badge={models && <Count models={models} />}>
      {models?.length === 0 && (
        <p class="quiet">No models. Add a model folder to the model repository and load it.</p>
      )}
      {guard && <GuardCard guard={guard} />}
      {models && models.length > 0 && <ModelTable models={models} />}
    </Shell>
  );
}

function GuardCard({ guard }: { readonly guard: NonNullable<ModelsInfo['guard']> }) {
  return (
    <section class="card" aria-label="Guardrail">
      <p>
        <a href="guard/">Guardrail</a>{' '}
        <span class="quiet">checks of guard.json: models and patterns</span>
      </p>
      {guard.reason !== null && (
        <p class="failed">
          {guard.loaded ? 'Reload failed, the previous policy is active: ' : 'Not loaded: '}
          {guard.reason}
        </p>
      )}
    </section>
  );
}

function Count({ models }: { readonly models: readonly ListedModel[] }) {
  const ready = models.filter(({ serving }) => serving !== null).length;
  return (
    <span class="badge">
      <span class={`dot ${ready === models.length ? 'good' : 'bad'}`} aria-hidden="true" />
      {ready} of {models.length} ready
    </span>
  );
}

function ModelTable({ models }: { readonly models: readonly ListedModel[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section class="card scroller" aria-label="Models" tabIndex={0}>
      <table class="models">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Task</th>
            <th scope="col">Versions</th>
            <th scope="col">Reference</th>
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <ModelRow key={model.name} model={model} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ModelRow({ model }: { readonly model: ListedModel }) {
  const { name, aliases, task, versions, reason, serving } = model;
  const url = `models/${name}/`;
  return (
    <tr>
      <th scope="row">
        {serving === null ? name : <a href={url}>{name}</a>}
        {aliases.length > 0 && <small> alias: {aliases.join(', ')}</small>}
        {model.default && <small> default</small>}
        {model.required && <small> required</small>}
      </th>
      <td>{task ?? '–'}</td>
      <td>
        {versions.map(({ version, state, reason: why }) => (
          <div key={version}>
            {version} <span class={state === 'failed' ? 'failed' : 'quiet'}>{state}</span>
            {why !== null && <div class="reason">{why}</div>}
          </div>
        ))}
        {versions.length === 0 && reason !== null && <div class="reason">{reason}</div>}
      </td>
      <td>{serving !== null && <a href={`${url}docs`}>API</a>}</td>
    </tr>
  );
}

start(<ModelsPage />);
setInterval(() => {
  if (!document.hidden && info.value !== null) loadInfo().catch(reportError);
}, REFRESH_INTERVAL_MS);
