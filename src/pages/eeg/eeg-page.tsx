import { start } from '../shared/page';
import { Shell } from '../shared/shell';
import { ChannelCards } from './channels/channel-cards';
import { analyzeOnMove } from './channels/channel-quality';
import { filterOnChange } from './channels/display-filter';
import { clearRunOnNewSelection } from './channels/run-windows';
import { isMultichannel } from './channels/selection';
import { prepareOnChange } from './channels/traces';
import { resetViewOnNewRecording } from './channels/view-state';
import { classifyOnMove, clearRunOnNewSamples } from './classify';
import { stopStreamOnNewSamples } from './live/live';
import { LiveCanvas } from './live/live-canvas';
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
      {isMultichannel.value ? <ChannelCards /> : <ChannelCard />}
    </Shell>
  );
}

/** Cards of the page for models of one channel. */
function ChannelCard() {
  return (
    <>
      <SignalCard />
      <WindowCards />
      <RunCard />
      <LiveCard Plot={LiveCanvas} subject="this channel" />
    </>
  );
}

start(<EegPage />);
classifyOnMove();
clearRunOnNewSamples();
stopStreamOnNewSamples();
resetViewOnNewRecording();
filterOnChange();
clearRunOnNewSelection();
analyzeOnMove();
prepareOnChange();
