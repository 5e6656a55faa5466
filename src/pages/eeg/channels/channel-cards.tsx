import { LiveCard } from '../live/live-card';
import { LivePlot } from './live-plot';
import { SignalsCard } from './signals-card';
import { WindowsCard } from './windows-card';
import './channels.css';

/** Cards of the page for models of several channels. */
export function ChannelCards() {
  return (
    <>
      <SignalsCard />
      <WindowsCard />
      <LiveCard Plot={LivePlot} subject="the channels of the model" />
    </>
  );
}
