import type { Timings } from './client';
import { milliseconds, plural } from './format';

interface Part {
  readonly name: string;
  readonly ms: number;
  readonly tone: string;
}

/** Latency of a request and its parts. */
export function TimingBreakdown({ timings }: { readonly timings: Timings }) {
  const parts = toParts(timings);
  return (
    <section class="timing" aria-label="Latency breakdown">
      <p class="quiet">
        Response in <strong>{milliseconds(timings.total)}</strong>
        {/* A signal counts as one token and has no tokenization. */}
        {timings.tokens !== null && timings.tokenization !== 0 && (
          <> · {plural(timings.tokens, 'token')} computed</>
        )}
      </p>
      {parts.length > 1 && (
        <>
          <div class="stack" aria-hidden="true">
            {parts.map(({ name, ms, tone }) => (
              <span key={name} class={tone} style={{ flexGrow: ms }} />
            ))}
          </div>
          <ul class="key">
            {parts.map(({ name, ms, tone }) => (
              <li key={name}>
                <span class={`swatch ${tone}`} aria-hidden="true" />
                {name} {milliseconds(ms)}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function toParts({ total, queue, tokenization, inference }: Timings): readonly Part[] {
  const measured = [
    { name: 'Queue', ms: queue, tone: 'tone-3' },
    { name: 'Tokenization', ms: tokenization, tone: 'tone-2' },
    { name: 'Inference', ms: inference, tone: 'tone-0' },
  ].filter((part): part is Part => part.ms !== null && part.ms > 0);
  const rest = total - measured.reduce((sum, { ms }) => sum + ms, 0);
  return [...measured, { name: 'Network and HTTP', ms: Math.max(0, rest), tone: 'tone-rest' }];
}
