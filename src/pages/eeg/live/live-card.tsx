import type { ComponentType } from 'preact';
import { plural } from '../../shared/format';
import { isReady } from '../../shared/info';
import { ErrorNote } from '../../shared/note';
import { modelRate, windowLength } from '../state';
import { goOn, isAway, isOn, type Live, live, pause, phase, play, problem, stop } from './live';
import { LiveControls } from './live-controls';
import { LiveResults } from './live-results';
import { liveSource } from './live-source';

interface LiveCardProps {
  readonly Plot: ComponentType<{ readonly live: Live }>;
  /** What is played, such as "this channel". */
  readonly subject: string;
}

/** Playback of the recording as a live stream. */
export function LiveCard({ Plot, subject }: LiveCardProps) {
  const source = liveSource.value;
  if (source === null || windowLength.value === null) return null;
  return (
    <section class="card" aria-labelledby="live">
      <div class="row ends">
        <h2 id="live">Live stream</h2>
        <div class="row tight">
          <PlayButtons />
        </div>
      </div>
      <LiveControls />
      <RateWords />
      {problem.value && (
        <div role="alert">
          <ErrorNote explanation={problem.value} onRetry={play} />
        </div>
      )}
      <div role="status" class="status-region">
        {live.value && <p class="quiet">{words(live.value)}</p>}
      </div>
      {live.value ? (
        <>
          <Plot live={live.value} />
          <LiveResults live={live.value} />
        </>
      ) : (
        <p class="quiet">
          Plays {subject} as an amplifier would send it: each window is classified as soon as its
          last sample is there.
          {source.hasGaps ? ' Gaps are left out.' : ''}
        </p>
      )}
    </section>
  );
}

function PlayButtons() {
  const isPaused = phase.value === 'paused';
  if (!isOn.value) {
    return (
      <button type="button" class="primary" disabled={!isReady.value} onClick={play}>
        {live.value ? 'Play again' : 'Play'}
      </button>
    );
  }
  return (
    <>
      <button type="button" class="primary" onClick={isPaused ? goOn : pause}>
        {isPaused ? 'Go on' : 'Pause'}
      </button>
      <button type="button" onClick={stop}>
        Stop
      </button>
    </>
  );
}

/** Note about resampling on the server. */
function RateWords() {
  const [from, to] = [liveSource.value?.rate ?? null, modelRate.value];
  if (to === null || from === to) return null;
  return (
    <p class="quiet">
      {from === null
        ? `The sampling rate is unknown; ${to} Hz is assumed.`
        : `Sent at ${from} Hz. The server resamples to ${to} Hz.`}
    </p>
  );
}

/** State of the stream for screen readers, without window numbers. */
function words({ windows }: Live): string {
  const classified = plural(windows.length, 'window');
  if (phase.value === 'stopped') return `Stopped after ${classified}.`;
  if (phase.value === 'ended') return `End of the recording. Classified: ${classified}.`;
  if (isAway.value) return 'The connection is lost. Trying again…';
  if (phase.value === 'paused') return 'Paused.';
  return 'Playing.';
}
