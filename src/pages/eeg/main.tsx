import { render } from 'preact';
import '../shared/base.css';

function EegPage() {
  return (
    <main>
      <h1>EEG windows</h1>
    </main>
  );
}

render(<EegPage />, document.getElementById('app') as HTMLElement);
