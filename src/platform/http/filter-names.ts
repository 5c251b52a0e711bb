/** Refuses query parameters of a listing that are unknown and look like a filter (R-A12). */
import leven from 'leven';
import { DomainError } from '../errors.ts';
import { MAX_DETAILS } from './lenient.ts';

const ENDS_AS_ID = /ids?$/;
/**
 * Maximum number of letters by which a misspelt name may differ from a known name. For a short known name, the maximum
 * is half the length of the known name: otherwise every name of two letters would count as a misspelt `to`.
 */
const MAX_LETTERS = 2;
const LETTERS_PER_TYPO = 2;

/**
 * Creates a check of the parameter names in a query (R-A12). The check throws invalid_input for an unknown name that
 * ends in `id` or `ids`, or that may be a misspelling of a known name (see `MAX_LETTERS`).
 * @param known names of the listing's parameters, documented names first.
 * @returns the check, which takes the names of the query in lower case.
 */
export function filterGuard(known: readonly string[]): (given: Iterable<string>) => void {
  const lower = known.map((name) => name.toLowerCase());
  const isKnown = new Set(lower);
  return (given) => {
    const details = [];
    for (const name of given) {
      if (isKnown.has(name)) continue;
      const distances = lower.map((other) => leven(name, other));
      const distance = Math.min(...distances);
      const nearest = known[distances.indexOf(distance)] ?? '';
      const isMisspelt = distance <= Math.min(MAX_LETTERS, Math.floor(nearest.length / LETTERS_PER_TYPO));
      if (!isMisspelt && !ENDS_AS_ID.test(name)) continue;
      details.push({ path: `query.${name}`, message: `is not a parameter of this listing; the nearest is ${nearest}` });
    }
    const [first] = details;
    if (!first) return;
    const message = `${first.path.replace('.', ' ')} ${first.message}`;
    throw new DomainError('invalid_input', message, details.slice(0, MAX_DETAILS));
  };
}
