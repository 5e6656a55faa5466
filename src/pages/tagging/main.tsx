import { Shell } from '../shared/shell';
import { start } from '../shared/start';
import { Composer } from './composer';
import { Results } from './results';
import './tagging.css';

function TaggingPage() {
  return (
    <Shell title="Tagging">
      <div class="columns">
        <Composer />
        <Results />
      </div>
    </Shell>
  );
}

start(<TaggingPage />);
