import { Note } from '../shared/note';
import { channel, givenRate, modelRate, rateState, recordedRate, setResampled } from './state';

/** Note shown if the sampling rates of recording and model differ. */
export function RateNote() {
  const state = rateState.value;
  return (
    <div role="status" class="status-region">
      {state === 'unknown' && (
        <Note tone="warn" title="The recording does not say its sampling rate.">
          The model expects {modelRate.value} Hz. Predictions at another sampling rate are
          meaningless: if you know it, give it here.
          <RateField />
        </Note>
      )}
      {state === 'differs' && (
        <Note
          tone="warn"
          title={`Recorded at ${recordedRate.value} Hz, but the model was made for ${modelRate.value} Hz.`}
        >
          <div class="row ends">
            <span>A rhythm would look faster or slower to it than it is.</span>
            <button type="button" class="small" onClick={() => setResampled(true)}>
              Resample to {modelRate.value} Hz
            </button>
          </div>
          {channel.value?.samplingRateHz === null && <RateField />}
        </Note>
      )}
      {state === 'resampled' && (
        <Note title={`Resampled from ${recordedRate.value} Hz to ${modelRate.value} Hz.`}>
          <div class="row ends">
            <span>What is plotted and classified is the resampled signal.</span>
            <button type="button" class="small" onClick={() => setResampled(false)}>
              Use the original
            </button>
          </div>
        </Note>
      )}
    </div>
  );
}

/** Field for the sampling rate of a recording that does not specify it. */
export function RateField() {
  return (
    <div class="field rate-field">
      <label for="given-rate">Sampling rate, Hz</label>
      <input
        id="given-rate"
        type="number"
        min={1}
        max={100000}
        step="any"
        value={givenRate.value ?? ''}
        onChange={(event) => {
          const value = event.currentTarget.valueAsNumber;
          givenRate.value = Number.isFinite(value) && value > 0 ? value : null;
        }}
      />
    </div>
  );
}
