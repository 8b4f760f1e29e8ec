/** A color of sRGB: channels 0 to 255, alpha 0 to 1. */
export interface Color {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly alpha: number;
}

export const white: Color = { red: 255, green: 255, blue: 255, alpha: 1 };
export const black: Color = { red: 0, green: 0, blue: 0, alpha: 1 };

/** Returns the color that is seen when `top` lies over the opaque color `below`. Its channels are whole numbers. */
export function over(top: Color, below: Color): Color {
  const seen = (one: number, other: number) => Math.round(one * top.alpha + other * (1 - top.alpha));
  return {
    red: seen(top.red, below.red),
    green: seen(top.green, below.green),
    blue: seen(top.blue, below.blue),
    alpha: 1,
  };
}
