/** What becomes of an order where scores change a little. */

/** How many of the best are compared. */
const TOP = 10;

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Kendall's tau-b of two lists of scores. */
function tau(a, b) {
  let agreed = 0;
  const ties = [0, 0];
  const pairs = (a.length * (a.length - 1)) / 2;
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j < i; j++) {
      const [one, other] = [Math.sign(a[i] - a[j]), Math.sign(b[i] - b[j])];
      agreed += one * other;
      ties[0] += one === 0;
      ties[1] += other === 0;
    }
  }
  return agreed / Math.sqrt((pairs - ties[0]) * (pairs - ties[1]));
}

/** The documents with the highest scores. */
function top(row) {
  return new Set([...row.keys()].sort((i, j) => row[j] - row[i]).slice(0, TOP));
}

/** Rows of scores, one for each query, beside those of float32: columns of a table. */
export function compareRanks(rows, reference) {
  const kept = rows.map((row, i) => {
    const expected = top(reference[i]);
    return [...top(row)].filter((document) => expected.has(document)).length / TOP;
  });
  const first = rows.filter(
    (row, i) => row.indexOf(Math.max(...row)) === reference[i].indexOf(Math.max(...reference[i])),
  ).length;
  return {
    "Kendall's tau": mean(rows.map((row, i) => tau(row, reference[i]))).toFixed(4),
    'top 10 kept': `${(100 * mean(kept)).toFixed(1)} %`,
    'same first': `${first} of ${rows.length}`,
  };
}
