import { type Service, startService, textModel } from './service';

/**
 * A service whose worker waits for company before it runs anything: what it has accepted stays in
 * the queue for `delayMs`, for certain, whatever the machine is doing.
 */
export function startHolding(
  delayMs: number,
  env: Readonly<Record<string, string>>,
): Promise<Service> {
  const holding = { ...textModel('bert-single-label'), MAX_QUEUE_DELAY_MS: String(delayMs) };
  return startService('sentiment', { env: { ...holding, ...env } });
}
