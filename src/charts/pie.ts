import { arc, pie as pieOf } from "d3-shape";
import type { Box, Chart } from "./chart.ts";
import { type Colors, seriesColor, seriesMax } from "./colors.ts";
import { labelSize, textSize } from "./frame.ts";
import { fullNumber, share, shortNumber, sumOf } from "./numbers.ts";
import { widest } from "./side-bars.ts";
import { element, line, middleOf } from "./svg.ts";
import { countedRows, withRest } from "./table.ts";
import { fitted, oneLine } from "./text.ts";
import { textWidth } from "./text-widths.ts";

const rowHeight = 24;
const gap = 14;

/** A ring with the whole in its middle, and beside it the parts with their numbers. */
export function pie(chart: Chart, body: Box, colors: Colors): string {
  const parts = countedRows(chart)
    .filter(({ value }) => value > 0)
    .sort((one, other) => other.value - one.value);
  const places = Math.max(1, Math.min(seriesMax, Math.floor(body.height / rowHeight)));
  const slices = withRest(parts, places).map(({ label, value }, index) => ({
    name: oneLine(label) || "Unknown",
    value,
    color: index === places - 1 && parts.length > places ? colors.rest : seriesColor(colors, index),
  }));
  const total = sumOf(slices.map(({ value }) => value));
  const across = Math.min(body.height, body.width * 0.42);
  const ring = { x: body.x, y: body.y + (body.height - across) / 2, width: across, height: across };
  const list = { ...body, x: body.x + across + 24, width: body.width - across - 24 };
  return ringOf(slices, total, ring, colors) + partsOf(slices, total, list, colors);
}

interface Slice {
  readonly name: string;
  readonly value: number;
  readonly color: string;
}

function ringOf(slices: readonly Slice[], total: number, { x, y, width }: Box, colors: Colors): string {
  const radius = width / 2;
  const angles = pieOf<Slice>()
    .value(({ value }) => value)
    .sort(null)(slices.slice());
  const path = arc<(typeof angles)[number]>()
    .innerRadius(radius * 0.62)
    .outerRadius(radius)
    .digits(2);
  const transform = `translate(${Math.round(x + radius)} ${Math.round(y + radius)})`;
  const rings = angles.map((angle) =>
    element("path", {
      d: path(angle) ?? "",
      fill: angle.data.color,
      stroke: colors.ground,
      "stroke-width": 1.5,
    }),
  );
  const inner = radius * 1.1;
  const [middleX, middleY] = [Math.round(x + radius), Math.round(y + radius)];
  const texts = [fullNumber(total), shortNumber(total)];
  const text = texts.find((each) => textWidth(each, 20, true) <= inner) ?? "";
  const style = { x: middleX, anchor: "middle" } as const;
  const inMiddle =
    radius < 40
      ? ""
      : line(text, { ...style, y: middleY + 3, size: 20, fill: colors.ink, isBold: true }) +
        line("total", { ...style, y: middleY + 19, size: labelSize, fill: colors.quiet });
  return element("g", { transform }, rings.join("")) + inMiddle;
}

function partsOf(slices: readonly Slice[], total: number, body: Box, colors: Colors): string {
  const numbers = slices.map(({ value }) => fullNumber(value));
  const shares = slices.map(({ value }) => share(value, total));
  const [forNumbers, forShares] = [widest(numbers), widest(shares)];
  const isNarrow = body.width < forNumbers + forShares + 2 * gap + 90;
  const taken = forShares + gap + (isNarrow ? 0 : forNumbers + gap);
  const end = body.x + body.width;
  const top = body.y + (body.height - slices.length * rowHeight) / 2;
  return slices
    .map(({ name, color }, index) => {
      const y = top + index * rowHeight;
      const style = { y: middleOf(y, rowHeight, textSize), size: textSize };
      const room = body.width - taken - 18;
      return [
        element("rect", { x: body.x, y: y + rowHeight / 2 - 5, width: 10, height: 10, rx: 2, fill: color }),
        line(fitted(name, room, textSize), { ...style, x: body.x + 18, fill: colors.ink }),
        isNarrow
          ? ""
          : line(numbers[index] ?? "", {
              ...style,
              x: end - forShares - gap,
              fill: colors.ink,
              anchor: "end",
            }),
        line(shares[index] ?? "", { ...style, x: end, fill: colors.quiet, anchor: "end" }),
      ].join("");
    })
    .join("");
}
