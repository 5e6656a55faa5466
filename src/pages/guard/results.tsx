import type { GuardJson } from '../../client';
import { AnswerCard } from '../shared/answer-card';
import { plural } from '../shared/format';
import { MarkedText } from '../shared/marked-text';
import { Note } from '../shared/note';
import { toneOf } from './file';
import { type Finding, guarding, judged } from './state';
import { isMoved } from './thresholds';

const WORDS = {
  allow: { verdict: 'Allowed', advice: 'Pass it on as it is.' },
  redact: { verdict: 'Redacted', advice: 'Pass on the redacted text in its place.' },
  block: { verdict: 'Blocked', advice: 'Do not pass it on.' },
};

/** What the guard says of the texts, and why. */
export function Results() {
  return (
    <AnswerCard
      question={guarding}
      empty="What is to be done, what each check found and where, and the text without it will be here."
      announce={({ body }) => sentence(judged.value ?? body)}
    >
      {({ input: { texts }, body }) => (
        <Judged texts={texts} answer={judged.value ?? body} byFile={body.action} />
      )}
    </AnswerCard>
  );
}

function sentence({ action, findings }: GuardJson): string {
  return `${WORDS[action].verdict}, ${plural(findings.length, 'finding')}`;
}

interface JudgedProps {
  readonly texts: readonly string[];
  readonly answer: GuardJson;
  /** What the service says, with the thresholds of its file. */
  readonly byFile: GuardJson['action'];
}

function Judged({ texts, answer, byFile }: JudgedProps) {
  const { action, findings } = answer;
  const { verdict, advice } = WORDS[action];
  return (
    <>
      <div>
        <p class={`verdict ${action === 'block' ? 'failed' : ''}`}>
          <strong>{verdict}</strong>
        </p>
        <p>
          {advice} {reasonsOf(answer)}
        </p>
        {isMoved.value && (
          <p class="quiet">
            With the thresholds of the sliders. With those of the file:{' '}
            {WORDS[byFile].verdict.toLowerCase()}.
          </p>
        )}
      </div>
      <Problems answer={answer} />
      <Legend findings={findings} />
      {texts.map((text, part) => (
        <Part key={part} text={text} part={part} answer={answer} isOnly={texts.length === 1} />
      ))}
      <Together findings={findings} />
      <Placeholders map={answer.map ?? {}} />
    </>
  );
}

/** Which checks made it so. */
function reasonsOf({ action, findings, errors, not_looked_at: left }: GuardJson): string {
  if (action === 'allow') return findings.length === 0 ? 'No check found anything.' : '';
  const names = findings.filter((one) => one.action === action).map(({ check }) => check);
  const failed = action === 'block' ? errors.filter((one) => one.action === 'block') : [];
  const because = [
    ...[...new Set(names)].map((name) => `“${name}” found something`),
    ...failed.map(({ check }) => `“${check}” could not run`),
    ...(action === 'block' && left.some((one) => one.action === 'block')
      ? ['not all of it was looked at']
      : []),
  ];
  return `Why: ${because.join('; ')}.`;
}

/** What could not run, was not looked at, or was not awaited. */
function Problems({ answer }: { readonly answer: GuardJson }) {
  return (
    <>
      {answer.errors.map(({ check, reason, action }) => (
        <Note
          key={check}
          tone={action === 'block' ? 'bad' : 'warn'}
          title={`Check “${check}” could not run${action === 'block' ? ', which blocks' : '; the file lets that pass'}.`}
          detail={reason}
        />
      ))}
      {answer.not_looked_at.map(({ check, part, start, limit, action }, index) => (
        <Note
          key={index}
          tone={action === 'block' ? 'bad' : 'warn'}
          title={`Not all was looked at${action === 'block' ? ', which blocks' : ''}.`}
        >
          {`${check === null ? 'No check has seen' : `Check “${check}” has not seen`} ${placeOf(part, start)}: the limit of ${limit} was reached.`}
        </Note>
      ))}
    </>
  );
}

function placeOf(part: number | null, start: number | null): string {
  const where = part === null ? 'some of the text' : `part ${part + 1}`;
  return start === null ? where : `${where} from character ${start} on`;
}

function Legend({ findings }: { readonly findings: readonly Finding[] }) {
  const counts = new Map<string, number>();
  for (const { check } of findings) counts.set(check, (counts.get(check) ?? 0) + 1);
  if (counts.size === 0) return null;
  return (
    <ul class="key" aria-label="Checks that found something">
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
  readonly answer: GuardJson;
  readonly isOnly: boolean;
}

/** A part with what was found in it, and what is to be passed on in its place. */
function Part({ text, part, answer, isOnly }: PartProps) {
  const name = isOnly ? 'Text' : `Part ${part + 1}`;
  const own = answer.findings.filter((one) => one.part === part);
  const marks = own.flatMap(({ check, label, score, start, end }) =>
    start === null || end === null
      ? []
      : [{ start, end, label: `${check}: ${label} ${score.toFixed(2)}`, tone: toneOf(check) }],
  );
  const redacted = answer.texts[part] ?? '';
  return (
    <section class="part" aria-label={name}>
      {!isOnly && <h3>{name}</h3>}
      <Chips findings={own.filter(({ start }) => start === null)} what="All of it" />
      <MarkedText name={`${name}, with what was found`} text={text} marks={marks} />
      {redacted !== text && (
        <>
          <h3>{name}, redacted</h3>
          <MarkedText name={`${name}, redacted`} text={redacted} marks={[]} />
        </>
      )}
    </section>
  );
}

/** What all parts are together. */
function Together({ findings }: { readonly findings: readonly Finding[] }) {
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
      <h3 id="placeholders">What placeholders stand for</h3>
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
