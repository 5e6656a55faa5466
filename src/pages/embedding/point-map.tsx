import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Comparison, selected } from './embedding-state';
import { type Box, type Point, placeLabels, scalePoints } from './label-layout';

/** Map of the texts as points. The arrow keys select the next point. */
export function PointMap({ response }: { readonly response: Comparison }) {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = host.current as HTMLDivElement;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    setWidth(element.clientWidth);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div class="map" ref={host}>
      {width > 0 && <PointSvg response={response} width={width} />}
    </div>
  );
}

function PointSvg({ response, width }: { readonly response: Comparison; readonly width: number }) {
  const { lines } = response.input;
  const box: Box = { width, height: Math.round(Math.min(420, Math.max(240, width * 0.7))) };
  const points = scalePoints(response.body.points, box);
  const select = (index: number, list: SVGElement): void => {
    selected.value = index;
    (list.querySelectorAll('[role="option"]')[index] as SVGElement | undefined)?.focus();
  };
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: the listbox inside has the name; a title would appear as tooltip of each point
    <svg width={box.width} height={box.height}>
      <g
        role="listbox"
        aria-label="Texts on the map"
        onKeyDown={(event) => {
          const next = nextIndex(event.key, selected.value, lines.length);
          if (next === null) return;
          event.preventDefault();
          select(next, event.currentTarget);
        }}
      >
        {lines.map(({ number, text }, index) => {
          const [x, y] = points[index] as Point;
          return (
            <g
              key={number}
              class="point"
              role="option"
              tabindex={index === selected.value ? 0 : -1}
              aria-selected={index === selected.value}
              aria-label={`${number}: ${text}`}
              transform={`translate(${x} ${y})`}
              onClick={(event) =>
                select(index, event.currentTarget.parentElement as unknown as SVGElement)
              }
            >
              <circle r="11" />
              <text dy="0.35em" text-anchor="middle" class="at">
                {number}
              </text>
            </g>
          );
        })}
      </g>
      <Labels points={points} texts={lines.map(({ text }) => shorten(text))} box={box} />
    </svg>
  );
}

interface LabelsProps {
  readonly points: readonly Point[];
  readonly texts: readonly string[];
  readonly box: Box;
}

/** Visible labels, hidden from screen readers: each point has its text as accessible name. */
function Labels({ points, texts, box }: LabelsProps) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a group takes no focus
    <g aria-hidden="true" class="labels">
      {placeLabels(points, texts, box).map((label, index) => {
        const [x, y] = points[index] as Point;
        return (
          label && (
            <text
              x={x + label.x}
              y={y + label.y}
              dy="0.35em"
              text-anchor={label['text-anchor']}
              class={index === selected.value ? 'chosen' : ''}
            >
              {texts[index]}
            </text>
          )
        );
      })}
    </g>
  );
}

/** Index of the point that a key selects; null for other keys. */
function nextIndex(key: string, index: number, length: number): number | null {
  switch (key) {
    case 'ArrowRight':
    case 'ArrowDown':
      return Math.min(length - 1, index + 1);
    case 'ArrowLeft':
    case 'ArrowUp':
      return Math.max(0, index - 1);
    case 'Home':
      return 0;
    case 'End':
      return length - 1;
    default:
      return null;
  }
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length > 26 ? `${characters.slice(0, 25).join('')}…` : text;
}
