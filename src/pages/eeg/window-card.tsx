import { percent } from '../shared/format';
import { ErrorNote } from '../shared/note';
import { ScoreBars } from '../shared/score-bars';
import { TimingBreakdown } from '../shared/timing-breakdown';
import { isPending, problem, response, retry } from './classify';
import { Plot } from './plot';
import { channel, normalized, rate, start, timeline, windowSamples } from './state';
import { toneOf } from './tones';

/** Samples of the window before and after preprocessing, and the prediction. */
export function WindowCards() {
  const [raw, prepared] = [windowSamples.value, normalized.value];
  if (raw === null || prepared === null) return null;
  const unit = channel.value?.unit ?? null;
  const from = timeline.value?.toSeconds(start.value) ?? 0;
  return (
    <div class="columns window-columns">
      <section class="card" aria-labelledby="window-title">
        <h2 id="window-title">Window</h2>
        <div class="pair">
          <figure class="field">
            <figcaption>
              <h3>Raw{unit && `, ${unit}`}</h3>
            </figcaption>
            <Plot
              y={raw}
              rate={rate.value}
              from={from}
              height={230}
              label="The window as recorded"
            />
          </figure>
          <figure class="field">
            <figcaption>
              <h3>z-normalized, SD</h3>
            </figcaption>
            <Plot
              y={prepared}
              rate={rate.value}
              from={from}
              height={230}
              label="The window as the model sees it: less its mean, divided by its standard deviation"
            />
          </figure>
        </div>
      </section>
      <section class="card" aria-labelledby="prediction" aria-busy={isPending.value}>
        <h2 id="prediction">Prediction for this window</h2>
        <div role="status" class="status-region">
          {problem.value && <ErrorNote explanation={problem.value} onRetry={retry} />}
          <Announcement />
        </div>
        <Answer />
      </section>
    </div>
  );
}

/** Short prediction for screen readers, announced when it changes. */
function Announcement() {
  if (response.value === null) return null;
  const { diagnosis, confidence } = response.value.prediction;
  return (
    <span class="visually-hidden">
      {diagnosis}, {percent(confidence)}
    </span>
  );
}

function Answer() {
  if (response.value === null) return problem.value ? null : <p class="quiet">Classifying…</p>;
  const { prediction, timings } = response.value;
  return (
    <div class={`answer ${isPending.value ? 'is-old' : ''}`}>
      <p class="verdict">
        <strong>{prediction.diagnosis}</strong>
        <span class="quiet">{percent(prediction.confidence)}</span>
      </p>
      <ScoreBars
        scores={Object.entries(prediction.probabilities)}
        top={prediction.diagnosis}
        toneOf={toneOf}
      />
      <TimingBreakdown timings={timings} />
    </div>
  );
}
