import { render } from 'preact';
import '../shared/base.css';

function SentimentPage() {
  return (
    <main>
      <h1>Sentiment</h1>
    </main>
  );
}

render(<SentimentPage />, document.getElementById('app') as HTMLElement);
