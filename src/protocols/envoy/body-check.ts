import { roundToFourDecimals } from '../../lib/numbers';
import type { Inference } from '../../native/engine';
import type { GuardService } from '../../services/guard';
import type { ServiceRequest } from '../../serving/service-request';
import type { ExtProcSection } from '../../tasks/guard/ext-proc-section';
import type { GuardResult } from '../../tasks/guard/guard-result';
import { restore } from '../../tasks/guard/redaction';
import { readBody } from './body-texts';
import { type HeaderChanges, immediateResponse, type ProcessingResponse } from './messages';
import { parseFieldPath } from './text-fields';

export type Direction = 'request' | 'response';

/** Result of a check: the body continues, unchanged (null) or replaced, or the client gets another response. */
export type Verdict =
  | { readonly headers: HeaderChanges; readonly body: Buffer | null }
  | { readonly immediate: ProcessingResponse };

export interface BodyToCheck {
  readonly direction: Direction;
  readonly bytes: Buffer;
  readonly headers: ReadonlyMap<string, string>;
  /** False: Envoy sent only a part of the body. */
  readonly isComplete: boolean;
  /** Changes of the headers, independent of the findings. */
  readonly headerChanges: HeaderChanges;
}

/** Checks the bodies of one HTTP request and its response with the guard. */
export class BodyChecker {
  readonly #guard: GuardService;
  readonly #section: ExtProcSection;
  /** Original texts by placeholder of the redacted request, to be restored in the response. */
  #redacted: GuardResult['map'] = {};
  /** Inferences of the last check. */
  inferences: readonly Inference[] = [];

  constructor(guard: GuardService, section: ExtProcSection) {
    this.#guard = guard;
    this.#section = section;
  }

  /** Drops the redacted texts. */
  clear(): void {
    this.#redacted = {};
  }

  async check(call: ServiceRequest, body: BodyToCheck): Promise<Verdict> {
    const { bytes, isComplete, headerChanges: headers } = body;
    if (isComplete && bytes.length === 0) return { headers, body: null };
    const direction = body.direction === 'request' ? 'input' : 'output';
    const found = isComplete ? this.#read(body) : null;
    if (!found) {
      if (this.#section.unreadable === 'allow') return { headers, body: null };
      return this.reject(`The guard cannot read this ${direction}.`, 'unreadable');
    }
    const { texts } = found;
    if (texts.length === 0) return { headers, body: null };
    const taken = Object.keys(this.#redacted);
    const result = await this.#guard.check(call, { texts, direction, taken });
    this.inferences = result.inferences;
    if (result.action === 'block') {
      const message = `The guard has blocked this ${direction}: ${blockReasons(result)}.`;
      return this.reject(message, 'blocked', result);
    }
    const written = this.#textsToSend(body.direction, result);
    const isChanged = written.some((text, index) => text !== texts[index]);
    const changed = isChanged ? found.write(written) : null;
    return { headers: this.#headersOf(headers, findingsHeader(result), changed), body: changed };
  }

  /** Immediate response in the error format of OpenAI, which clients of language models parse. */
  reject(message: string, code: string, result: GuardResult | null = null) {
    const findings = (result?.findings ?? []).map(({ check, label, score, action }) => ({
      check,
      label,
      score: roundToFourDecimals(score),
      action,
    }));
    const error = { message, type: 'guard', param: null, code, findings };
    return { immediate: immediateResponse(this.#section.status, { error }) };
  }

  #read({ bytes, headers, direction }: BodyToCheck) {
    const { input, output, events } = this.#section;
    const json = direction === 'request' ? input : output;
    return readBody(bytes, headers, {
      json: json.map(parseFieldPath),
      events: events.map(parseFieldPath),
    });
  }

  /** The redacted texts, for a response with the redacted parts of its request restored. */
  #textsToSend(direction: Direction, { texts, map }: GuardResult): readonly string[] {
    if (direction === 'response') return texts.map((text) => restore(text, this.#redacted));
    if (this.#section.restore) this.#redacted = map;
    return texts;
  }

  /** @param findings value of the header with the findings; empty: no findings */
  #headersOf(
    { remove = [], ...headers }: HeaderChanges,
    findings: string,
    changed: Buffer | null,
  ): HeaderChanges {
    const { header } = this.#section;
    return {
      ...headers,
      set: {
        ...(findings !== '' && { [header]: findings }),
        ...(changed && { 'content-length': String(changed.length) }),
      },
      remove: findings === '' ? remove : remove.filter((name) => name !== header),
    };
  }
}

/** Reasons of a block, without any part of the texts. */
function blockReasons({ findings, errors, unchecked }: GuardResult): string {
  const isBlocking = ({ action }: { readonly action: string }): boolean => action === 'block';
  const reasons = [
    ...findings.filter(isBlocking).map(({ check, label }) => `${check} (${label})`),
    ...errors.filter(isBlocking).map(({ check }) => `${check} could not run`),
    ...unchecked
      .filter(isBlocking)
      .map(({ limit }) => `it exceeds a limit of the guard (${limit})`),
  ];
  return [...new Set(reasons)].join(', ');
}

/** Findings for a header, with the highest score per label: `check/label;score=0.98, …`. */
function findingsHeader({ findings }: GuardResult): string {
  const scores = new Map<string, number>();
  for (const { check, label, score } of findings) {
    const name = `${encodeURIComponent(check)}/${encodeURIComponent(label)}`;
    scores.set(name, Math.max(score, scores.get(name) ?? 0));
  }
  return [...scores]
    .map(([name, score]) => `${name};score=${roundToFourDecimals(score)}`)
    .join(', ');
}
