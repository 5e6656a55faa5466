import { placeLabels, scalePoints } from '../../../src/pages/embedding/label-layout';

const BOX = { width: 400, height: 300 };

it('fills the box with points, with one scale for both axes', () => {
  const points = scalePoints(
    [
      [-1, -1],
      [1, 1],
      [0, 0],
    ],
    BOX,
  );
  expect(points).toEqual([
    [76, 274],
    [324, 26],
    [200, 150],
  ]);
});

it('puts points that are the same, or one alone, into the middle', () => {
  expect(scalePoints([[5, 5]], BOX)).toEqual([[200, 150]]);
  expect(scalePoints(Array(2).fill([0, 0]), BOX)).toEqual(Array(2).fill([200, 150]));
});

it('puts labels where they cover nothing, or nowhere', () => {
  const anchors = (points: readonly (readonly [number, number])[], text: string) =>
    placeLabels(points, Array(points.length).fill(text), BOX).map(
      (label) => label && [label['text-anchor'], Math.sign(label.y)],
    );
  expect(anchors([[20, 150]], 'to the right')).toEqual([['start', 0]]);
  expect(anchors([[390, 150]], 'to the left')).toEqual([['end', 0]]);
  expect(anchors([[200, 150]], 'x'.repeat(40))).toEqual([['middle', -1]]);
  expect(anchors([[200, 5]], 'x'.repeat(40))).toEqual([['middle', 1]]);
  expect(anchors([[200, 150]], 'x'.repeat(80))).toEqual([null]);
  // Around the same point there is room for four.
  expect(anchors(Array(5).fill([200, 150]), 'five')).toEqual([
    ...[
      ['start', 0],
      ['end', 0],
      ['middle', -1],
      ['middle', 1],
    ],
    null,
  ]);
});
