import { start } from '../shared/page';
import { Shell } from '../shared/shell';
import { classifyOnMove, clearRunOnNewSamples } from './classify';
import { stopStreamOnNewSamples } from './live/live';
import { LiveCard } from './live/live-card';
import { RunCard } from './run-card';
import { SignalCard } from './signal-card';
import { SourceCard } from './source-card';
import { WindowCards } from './window-card';
import './eeg.css';

function EegPage() {
  return (
    <Shell
      title="EEG windows"
      banner={
        <>
          Demonstration, not a medical device.{' '}
          <span class="wide-only">Do not use results to diagnose or treat anyone.</span>
        </>
      }
    >
      <SourceCard />
      <SignalCard />
      <WindowCards />
      <RunCard />
      <LiveCard />
    </Shell>
  );
}

start(<EegPage />);
classifyOnMove();
clearRunOnNewSamples();
stopStreamOnNewSamples();
