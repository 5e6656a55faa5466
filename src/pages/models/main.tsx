import { info, loadInfo } from '../shared/info';
import { Shell } from '../shared/shell';
import { start } from '../shared/start';
import type { ListedModel, ModelsInfo } from './models-info';
import './models.css';

/** How often the list is asked for again, in ms: models come, go and load. */
const PERIOD_MS = 2000;

function ModelsPage() {
  const { models, guard } = (info.value as ModelsInfo | null) ?? {};
  return (
    <Shell title="Models" badge={models && <Count models={models} />}>
      {models?.length === 0 && (
        <p class="quiet">There is no model: put a folder into the directory, and load it.</p>
      )}
      {guard && <GuardLine guard={guard} />}
      {models && models.length > 0 && <ModelTable models={models} />}
    </Shell>
  );
}

function GuardLine({ guard }: { readonly guard: NonNullable<ModelsInfo['guard']> }) {
  return (
    <section class="card" aria-label="Guard">
      <p>
        <a href="guard/">Guard</a>{' '}
        <span class="quiet">the checks of guard.json over these models and patterns</span>
      </p>
      {guard.reason !== null && (
        <p class="failed">
          {guard.loaded ? 'It is as it was: ' : 'It is not loaded: '}
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
      {ready} of {models.length} answer
    </span>
  );
}

function ModelTable({ models }: { readonly models: readonly ListedModel[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by key
    <section class="card scroller" aria-label="Models" tabIndex={0}>
      <table class="models">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Task</th>
            <th scope="col">Versions</th>
            <th scope="col">Ask it</th>
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
  const place = `models/${name}/`;
  return (
    <tr>
      <th scope="row">
        {serving === null ? name : <a href={place}>{name}</a>}
        {aliases.length > 0 && <small> also {aliases.join(', ')}</small>}
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
      <td>{serving !== null && <a href={`${place}docs`}>API</a>}</td>
    </tr>
  );
}

start(<ModelsPage />);
setInterval(() => {
  if (!document.hidden && info.value !== null) loadInfo().catch(reportError);
}, PERIOD_MS);
