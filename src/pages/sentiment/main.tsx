import { Shell } from '../shared/shell';
import { start } from '../shared/start';
import { Composer } from './composer';
import { Results } from './results';

function SentimentPage() {
  return (
    <Shell title="Sentiment">
      <div class="columns">
        <Composer />
        <Results />
      </div>
    </Shell>
  );
}

start(<SentimentPage />);
