/** A hundred swaps of a model of 150 MB: memory is what it was. */
import { swapLarge, WAYS } from '../helpers/large-swaps';
import { removeDirectories } from '../helpers/models-directory';
import { setTestLimit } from '../helpers/until';
import { budgeted, report } from './budget';

const SWAPS = budgeted({ ci: 100, standard: 100, long: 500 });
const MOST_MB = 30;

setTestLimit(SWAPS * 15_000);

afterAll(removeDirectories);

it.each(WAYS)(`adds less than ${MOST_MB} MB in ${SWAPS} times that a model is %s`, async (way) => {
  const added = await swapLarge(way, SWAPS);
  report('large swaps', {
    swaps: SWAPS,
    mostAddedMb: Math.max(...added),
    addedMb: added.at(-1) ?? 0,
  });
  expect(Math.max(...added)).toBeLessThan(MOST_MB);
});
