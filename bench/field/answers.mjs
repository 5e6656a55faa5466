/** Whether a peer answers as this server does: each throws where float32 differs, and returns what is told of both. */

/** Of vectors and scores. */
const TOLERANCE = 1e-4;
/** llama.cpp reads GELU from a table in float16. */
const TOLERANCES = { 'llama-cpp': 1e-3 };
/** tagging: scores have four decimals. */
const ROUNDED = 2e-4;

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const farthest = (a, b) => Math.max(...a.map((value, i) => Math.abs(value - b[i])));

function require(condition, problem) {
  if (!condition) throw new Error(`the answers differ: ${problem}`);
}

/** Lists of vectors of length 1. */
export function compareVectors(ours, theirs, { exact, peer }) {
  const [own, others] = [ours.flat(), theirs.flat()];
  require(own.length === others.length, `${own.length} vectors against ${others.length}`);
  const worst = Math.max(...own.map((vector, i) => farthest(vector, others[i])));
  if (exact) require(worst <= (TOLERANCES[peer] ?? TOLERANCE), `vectors by ${worst}`);
  const cosines = own.map((vector, i) => dot(vector, others[i]));
  return `${own.length} vectors: largest difference ${worst.toExponential(1)}, smallest cosine ${Math.min(...cosines).toFixed(6)}`;
}

/** Indices and scores of documents, best first. */
export function compareScores(ours, theirs, { exact }) {
  const byDocument = (ranked) => {
    const scores = [];
    for (const { index, score } of ranked) scores[index] = score;
    return scores;
  };
  const [own, others] = [ours.map(byDocument), theirs.map(byDocument)];
  const worst = Math.max(...own.map((scores, i) => farthest(scores, others[i])));
  if (exact) require(worst <= TOLERANCE, `scores by ${worst}`);
  const spread = average(own.map((scores) => Math.max(...scores) - Math.min(...scores)));
  return `${own.flat().length} scores: largest difference ${worst.toExponential(1)}, where they spread over ${spread.toFixed(2)}`;
}

/** Labels of tokens; `word` alone where a peer has no offsets. */
export function compareTags(ours, theirs, { exact }) {
  let [same, all, worst] = [0, 0, 0];
  for (const [i, { tags }] of ours.entries()) {
    const others = theirs[i].tags;
    if (exact)
      require(tags.length === others.length, `${tags.length} tokens against ${others.length}`);
    all += tags.length;
    const known = new Map(others.map((tag, at) => [tag.start ?? at, tag]));
    for (const [at, tag] of tags.entries()) {
      const other = known.get(others[0]?.start === undefined ? at : tag.start);
      const agrees = other?.label === tag.label && other.word === tag.word;
      if (agrees) {
        same += 1;
        worst = Math.max(worst, Math.abs(tag.score - other.score));
      } else if (exact) require(false, `${JSON.stringify(tag)} against ${JSON.stringify(other)}`);
    }
  }
  if (exact) require(worst <= ROUNDED, `scores by ${worst}`);
  return `${same} of ${all} tokens have the same label, largest difference of their scores ${worst.toFixed(4)}`;
}

/** What checks find: scores of classifiers by label, and spans. */
export function compareFindings(ours, theirs, { exact }) {
  const keyOf = ({ check, label, start, end }) =>
    JSON.stringify([check, label, start, end ?? null]);
  let [same, all, worst] = [0, 0, 0];
  for (const [i, { findings }] of ours.entries()) {
    const others = new Map(theirs[i].findings.map((one) => [keyOf(one), one.score]));
    if (exact)
      require(findings.length ===
        others.size, `${findings.length} findings against ${others.size}`);
    all += findings.length;
    for (const one of findings) {
      const score = others.get(keyOf(one));
      if (exact) require(score !== undefined, `${keyOf(one)} is not there`);
      if (score === undefined) continue;
      same += 1;
      worst = Math.max(worst, Math.abs(score - one.score));
    }
  }
  if (exact) require(worst <= ROUNDED, `scores by ${worst}`);
  return `${same} of ${all} findings are the same, largest difference of their scores ${worst.toFixed(4)}`;
}
