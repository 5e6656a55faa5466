/** Pixels. */
export interface Box {
  readonly width: number;
  readonly height: number;
}

export type Point = readonly [x: number, y: number];

/** From a point to its label, in pixels. */
export interface Label {
  readonly x: number;
  readonly y: number;
  readonly 'text-anchor': 'start' | 'middle' | 'end';
}

const RADIUS = 11;
const MARGIN = 26;
/** Of labels; a letter of 12 px is at most about so wide in the middle. */
const LETTER = 6.8;
const LINE = 16;

/** Points of a plane into a box: both axes by one scale, so that distances can be compared. */
export function scalePoints(points: readonly Point[], box: Box): readonly Point[] {
  const range = (axis: 0 | 1) => {
    const values = points.map((point) => point[axis]);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return { middle: (low + high) / 2, size: high - low };
  };
  const [x, y] = [range(0), range(1)];
  const scale = Math.min(
    (box.width - 2 * MARGIN) / Math.max(x.size, 1e-9),
    (box.height - 2 * MARGIN) / Math.max(y.size, 1e-9),
  );
  return points.map(([u, v]) => [
    Math.round(box.width / 2 + (u - x.middle) * scale),
    Math.round(box.height / 2 - (v - y.middle) * scale),
  ]);
}

interface Rectangle {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/**
 * Labels beside their points, each where it covers no point and no label before it.
 *
 * @returns null: there is no place for it
 */
export function placeLabels(
  points: readonly Point[],
  texts: readonly string[],
  box: Box,
): readonly (Label | null)[] {
  const taken: Rectangle[] = points.map(([x, y]) => around(x, y, 2 * RADIUS, 2 * RADIUS));
  return points.map(([x, y], index) => {
    const width = [...(texts[index] ?? '')].length * LETTER;
    const aside = RADIUS + 4;
    const above = RADIUS + LINE / 2;
    const places: readonly (readonly [Label, Rectangle])[] = [
      [{ x: aside, y: 0, 'text-anchor': 'start' }, around(x + aside + width / 2, y, width, LINE)],
      [{ x: -aside, y: 0, 'text-anchor': 'end' }, around(x - aside - width / 2, y, width, LINE)],
      [{ x: 0, y: -above, 'text-anchor': 'middle' }, around(x, y - above, width, LINE)],
      [{ x: 0, y: above, 'text-anchor': 'middle' }, around(x, y + above, width, LINE)],
    ];
    const free = places.find(
      ([, place]) => isWithin(place, box) && !taken.some((other) => overlap(place, other)),
    );
    if (!free) return null;
    taken.push(free[1]);
    return free[0];
  });
}

function around(x: number, y: number, width: number, height: number): Rectangle {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
}

function isWithin({ left, right, top, bottom }: Rectangle, { width, height }: Box): boolean {
  return left >= 0 && top >= 0 && right <= width && bottom <= height;
}

function overlap(a: Rectangle, b: Rectangle): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
