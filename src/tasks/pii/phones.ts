import {
  type CountryCode,
  type PhoneNumber,
  searchPhoneNumbersInText,
} from 'libphonenumber-js/max';
import { TimeSlice } from '../../lib/time-slice';

/** Regions of PhoneRecognizer of Presidio, in its order. */
const REGIONS: readonly CountryCode[] = ['US', 'GB', 'DE', 'FR', 'IL', 'IN', 'CA', 'BR'];

export interface PhoneMatch {
  /** Start and end in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** Country of an international number; null: the number names none. */
  readonly region: string | null;
}

/**
 * Whether a number has the prefix with which its country writes national numbers, such as 0. Source: phonenumbers,
 * phonenumbermatcher.py (`_is_national_prefix_present_if_required`).
 */
function hasNationalPrefix(matched: string, number: PhoneNumber): boolean {
  const digits = (text: string) => text.replaceAll(/[^0-9]/g, '');
  const national = digits(number.formatNational());
  const prefix = national.slice(0, Math.max(0, national.length - number.nationalNumber.length));
  return digits(matched.normalize('NFKC')).startsWith(prefix);
}

/** Valid phone numbers of the regions. Yields to the event loop between time slices. */
export async function findPhones(text: string): Promise<readonly PhoneMatch[]> {
  const found = new Map<string, PhoneMatch>();
  const turns = new TimeSlice();
  if (!/\p{Nd}/u.test(text)) return [];
  // phonenumbers does not read digits after a comma as an extension.
  const searched = text.replaceAll(',', '|');
  for (const defaultCountry of REGIONS) {
    for (const { startsAt, endsAt, number } of searchPhoneNumbersInText(searched, {
      defaultCountry,
    })) {
      const matched = text.slice(startsAt, endsAt);
      const isInternational = matched.startsWith('+');
      if (!number.isValid() || !(isInternational || hasNationalPrefix(matched, number))) continue;
      const region = isInternational ? (number.country ?? null) : null;
      const key = `${startsAt} ${endsAt}`;
      if (!found.has(key)) found.set(key, { start: startsAt, end: endsAt, region });
      if (turns.isExpired) await turns.yieldToEventLoop();
    }
    if (turns.isExpired) await turns.yieldToEventLoop();
  }
  return [...found.values()];
}
