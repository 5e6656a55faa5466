import type { GuardResponse } from '../../client';
import { plural } from '../shared/format';
import { MarkedText } from '../shared/marked-text';
import { Note } from '../shared/note';
import { RequestResultCard } from '../shared/result-card';
import { currentResult, type Finding, guardRequest } from './guard-state';
import { isChanged, toneOf } from './policy';

const VERDICTS = {
  allow: { verdict: 'Allowed', advice: 'Forward the text unchanged.' },
  redact: { verdict: 'Redacted', advice: 'Forward the redacted text instead.' },
  block: { verdict: 'Blocked', advice: 'Do not forward the text.' },
};

/** Action, findings and redacted texts. */
export function Results() {
  return (
    <RequestResultCard
      request={guardRequest}
      empty="The action, the findings of each check and the redacted text."
      announce={({ body }) => sentence(currentResult.value ?? body)}
    >
      {({ input: { texts }, body }) => (
        <Verdict texts={texts} result={currentResult.value ?? body} serverAction={body.action} />
      )}
    </RequestResultCard>
  );
}

function sentence({ action, findings }: GuardResponse): string {
  return `${VERDICTS[action].verdict}, ${plural(findings.length, 'finding')}`;
}

interface VerdictProps {
  readonly texts: readonly string[];
  readonly result: GuardResponse;
  /** Action with the thresholds of the policy on the server. */
  readonly serverAction: GuardResponse['action'];
}

function Verdict({ texts, result, serverAction }: VerdictProps) {
  const { action, findings } = result;
  const { verdict, advice } = VERDICTS[action];
  return (
    <>
      <div>
        <p class={`verdict ${action === 'block' ? 'failed' : ''}`}>
          <strong>{verdict}</strong>
        </p>
        <p>
          {advice} {reasonsOf(result)}
        </p>
        {isChanged.value && (
          <p class="quiet">
            With the thresholds of the sliders. With the thresholds on the server:{' '}
            {VERDICTS[serverAction].verdict.toLowerCase()}.
          </p>
        )}
      </div>
      <Problems result={result} />
      <Legend findings={findings} />
      {texts.map((text, part) => (
        <Part key={part} text={text} part={part} result={result} isOnly={texts.length === 1} />
      ))}
      <JointFindings findings={findings} />
      <Placeholders map={result.map ?? {}} />
    </>
  );
}

/** Names the checks that caused the action. */
function reasonsOf({ action, findings, errors, unchecked }: GuardResponse): string {
  if (action === 'allow') return findings.length === 0 ? 'No findings.' : '';
  const names = findings.filter((finding) => finding.action === action).map(({ check }) => check);
  const failed = action === 'block' ? errors.filter((error) => error.action === 'block') : [];
  const because = [
    ...[...new Set(names)].map((name) => `“${name}” has findings`),
    ...failed.map(({ check }) => `“${check}” failed`),
    ...(action === 'block' && unchecked.some((part) => part.action === 'block')
      ? ['part of the text was not checked']
      : []),
  ];
  return `Why: ${because.join('; ')}.`;
}

/** Failed checks and unchecked parts of the text. */
function Problems({ result }: { readonly result: GuardResponse }) {
  return (
    <>
      {result.errors.map(({ check, reason, action }) => (
        <Note
          key={check}
          tone={action === 'block' ? 'bad' : 'warn'}
          title={`Check “${check}” failed${action === 'block' ? ', the text is blocked' : ', ignored by the policy'}.`}
          detail={reason}
        />
      ))}
      {result.unchecked.map(({ check, part, start, limit, action }, index) => (
        <Note
          key={index}
          tone={action === 'block' ? 'bad' : 'warn'}
          title={`Part of the text was not checked${action === 'block' ? ', the text is blocked' : ''}.`}
        >
          {`${check === null ? 'All checks' : `Check “${check}”`} skipped ${describePart(part, start)}: limit ${limit} reached.`}
        </Note>
      ))}
    </>
  );
}

function describePart(part: number | null, start: number | null): string {
  const where = part === null ? 'part of the text' : `part ${part + 1}`;
  return start === null ? where : `${where} from character ${start}`;
}

function Legend({ findings }: { readonly findings: readonly Finding[] }) {
  const counts = new Map<string, number>();
  for (const { check } of findings) counts.set(check, (counts.get(check) ?? 0) + 1);
  if (counts.size === 0) return null;
  return (
    <ul class="key" aria-label="Checks with findings">
      {[...counts].map(([check, number]) => (
        <li key={check}>
          <span class={`swatch ${toneOf(check)}`} aria-hidden="true" />
          {check}: {plural(number, 'finding')}
        </li>
      ))}
    </ul>
  );
}

interface PartProps {
  readonly text: string;
  readonly part: number;
  readonly result: GuardResponse;
  readonly isOnly: boolean;
}

/** Part of the text with its findings and its redacted form. */
function Part({ text, part, result, isOnly }: PartProps) {
  const name = isOnly ? 'Text' : `Part ${part + 1}`;
  const own = result.findings.filter((finding) => finding.part === part);
  const marks = own.flatMap(({ check, label, score, start, end }) =>
    start === null || end === null
      ? []
      : [{ start, end, label: `${check}: ${label} ${score.toFixed(2)}`, tone: toneOf(check) }],
  );
  const redacted = result.texts[part] ?? '';
  return (
    <section class="part" aria-label={name}>
      {!isOnly && <h3>{name}</h3>}
      <Chips findings={own.filter(({ start }) => start === null)} what="Whole text" />
      <MarkedText name={`${name} with findings`} text={text} marks={marks} />
      {redacted !== text && (
        <>
          <h3>{name}, redacted</h3>
          <MarkedText name={`${name}, redacted`} text={redacted} marks={[]} />
        </>
      )}
    </section>
  );
}

/** Findings for all parts as one text. */
function JointFindings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <Chips findings={findings.filter(({ part }) => part === null)} what="All parts together" />
  );
}

interface ChipsProps {
  readonly findings: readonly Finding[];
  readonly what: string;
}

function Chips({ findings, what }: ChipsProps) {
  if (findings.length === 0) return null;
  return (
    <p class="key">
      {what}:
      {findings.map(({ check, label, score }) => (
        <span class="labelled" key={`${check} ${label}`}>
          <span class={`swatch ${toneOf(check)}`} aria-hidden="true" />
          {check}: {label} {score.toFixed(2)}
        </span>
      ))}
    </p>
  );
}

function Placeholders({ map }: { readonly map: Readonly<Record<string, string>> }) {
  const all = Object.entries(map);
  if (all.length === 0) return null;
  return (
    <section aria-labelledby="placeholders">
      <h3 id="placeholders">Placeholders</h3>
      <dl class="placeholders">
        {all.map(([placeholder, text]) => (
          <div key={placeholder}>
            <dt>{placeholder}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
