// Made by build/fonts.ts.

/** Where the files are served, on every host. */
export const fontsPath = "/_p/fonts/";

/** The characters that the files of a script have, in CSS. */
export const characters = {
  latin:
    "U+20-7e,U+a0-17f,U+218-21b,U+1e9e,U+2010-2014,U+2018-201a,U+201c-201e,U+2022,U+2026,U+2039-203a,U+20ac,U+2122",
  cyrillic:
    "U+20-7e,U+a0,U+ab,U+bb,U+400-45f,U+490-491,U+2010-2014,U+2018-201a,U+201c-201e,U+2022,U+2026,U+2039-203a,U+20ac,U+20b4,U+20bd,U+2116,U+2122",
  greek:
    "U+20-7e,U+a0,U+ab,U+bb,U+370-3ff,U+2010-2014,U+2018-201a,U+201c-201e,U+2022,U+2026,U+2039-203a,U+20ac,U+2122",
} as const;

/**
 * The faces of each family: a file for each script, and how a font that a device has must be scaled to take as much room:
 * `size-adjust`, `ascent-override` and `descent-override`, in percent.
 */
export const faces = {
  arimo: {
    "400": {
      files: {
        latin: "arimo-400-latin.3b64c37d2f52.woff2",
        cyrillic: "arimo-400-cyrillic.171afea03dc8.woff2",
        greek: "arimo-400-greek.53f101c50e0a.woff2",
      },
      fallbacks: { roboto: [100.2, 90.3, 21.1], "dejavu-sans": [87.7, 103.2, 24.2] },
    },
    "700": {
      files: {
        latin: "arimo-700-latin.50ac24fdc982.woff2",
        cyrillic: "arimo-700-cyrillic.3ff567381543.woff2",
        greek: "arimo-700-greek.8e0dd6c3f974.woff2",
      },
      fallbacks: { roboto: [106.2, 85.3, 20], "dejavu-sans": [83.6, 108.3, 25.4] },
    },
    "400i": {
      files: {
        latin: "arimo-400i-latin.84f2485d973e.woff2",
        cyrillic: "arimo-400i-cyrillic.b5a6916cda49.woff2",
        greek: "arimo-400i-greek.6669d5422eeb.woff2",
      },
      fallbacks: { roboto: [103, 87.9, 20.6], "dejavu-sans": [87.7, 103.2, 24.2] },
    },
    "700i": {
      files: {
        latin: "arimo-700i-latin.9b4c18412576.woff2",
        cyrillic: "arimo-700i-cyrillic.d9abd33b4c4c.woff2",
        greek: "arimo-700i-greek.854d2a83c628.woff2",
      },
      fallbacks: { roboto: [109.2, 82.9, 19.4], "dejavu-sans": [83.6, 108.3, 25.4] },
    },
  },
  cousine: {
    "400": {
      files: {
        latin: "cousine-400-latin.52ac808f903b.woff2",
        cyrillic: "cousine-400-cyrillic.8b49d358474e.woff2",
        greek: "cousine-400-greek.508280355807.woff2",
      },
      fallbacks: { "dejavu-mono": [99.7, 83.5, 30.1] },
    },
    "700": {
      files: {
        latin: "cousine-700-latin.1789726e7d59.woff2",
        cyrillic: "cousine-700-cyrillic.ceabe5689dd5.woff2",
        greek: "cousine-700-greek.bc813e2997a0.woff2",
      },
      fallbacks: { "dejavu-mono": [99.7, 83.5, 30.1] },
    },
    "400i": {
      files: {
        latin: "cousine-400i-latin.2623dd8f6c66.woff2",
        cyrillic: "cousine-400i-cyrillic.5a2d233fef3c.woff2",
        greek: "cousine-400i-greek.16fc690b858e.woff2",
      },
      fallbacks: { "dejavu-mono": [99.7, 83.5, 30.1] },
    },
    "700i": {
      files: {
        latin: "cousine-700i-latin.13ae649723d7.woff2",
        cyrillic: "cousine-700i-cyrillic.138466966122.woff2",
        greek: "cousine-700i-greek.84708f8ea40a.woff2",
      },
      fallbacks: { "dejavu-mono": [99.7, 83.5, 30.1] },
    },
  },
  "dejavu-sans": {
    "400": {
      files: {
        latin: "dejavu-sans-400-latin.cdf218670688.woff2",
        cyrillic: "dejavu-sans-400-cyrillic.dc0acf304321.woff2",
        greek: "dejavu-sans-400-greek.d379819f992f.woff2",
      },
      fallbacks: { roboto: [114.3, 81.2, 20.6] },
    },
    "700": {
      files: {
        latin: "dejavu-sans-700-latin.f84722225d79.woff2",
        cyrillic: "dejavu-sans-700-cyrillic.015f6f48e17b.woff2",
        greek: "dejavu-sans-700-greek.654949f839d7.woff2",
      },
      fallbacks: { roboto: [127, 73.1, 18.6] },
    },
    "400i": {
      files: {
        latin: "dejavu-sans-400i-latin.f10bcb9d1b38.woff2",
        cyrillic: "dejavu-sans-400i-cyrillic.0eecf8eda38b.woff2",
        greek: "dejavu-sans-400i-greek.e4f127326480.woff2",
      },
      fallbacks: { roboto: [117.5, 79, 20.1] },
    },
    "700i": {
      files: {
        latin: "dejavu-sans-700i-latin.904ebb3282e1.woff2",
        cyrillic: "dejavu-sans-700i-cyrillic.e576fbe59f18.woff2",
        greek: "dejavu-sans-700i-greek.0a6303dbbb81.woff2",
      },
      fallbacks: { roboto: [130.7, 71, 18] },
    },
  },
  gelasio: {
    "400": {
      files: { latin: "gelasio-400-latin.8f50f54ee3c4.woff2" },
      fallbacks: { "noto-serif": [92.7, 100.1, 36.9], "dejavu-serif": [86.3, 107.5, 39.6] },
    },
    "700": {
      files: { latin: "gelasio-700-latin.7bced450d921.woff2" },
      fallbacks: { "noto-serif": [101.3, 91.6, 33.7], "dejavu-serif": [90.9, 102, 37.6] },
    },
    "400i": {
      files: { latin: "gelasio-400i-latin.6d6e54dbf565.woff2" },
      fallbacks: { "noto-serif": [96.9, 95.7, 35.3], "dejavu-serif": [88, 105.4, 38.8] },
    },
    "700i": {
      files: { latin: "gelasio-700i-latin.521580c53ee3.woff2" },
      fallbacks: { "noto-serif": [102.2, 90.8, 33.4], "dejavu-serif": [92.6, 100.1, 36.9] },
    },
  },
  tinos: {
    "400": {
      files: {
        latin: "tinos-400-latin.a03bb4388852.woff2",
        cyrillic: "tinos-400-cyrillic.b603fb4ec9dd.woff2",
        greek: "tinos-400-greek.2d3256b7aca3.woff2",
      },
      fallbacks: { "noto-serif": [84.5, 105.5, 25.6], "dejavu-serif": [78.6, 113.3, 27.5] },
    },
    "700": {
      files: {
        latin: "tinos-700-latin.7f83ee6648ea.woff2",
        cyrillic: "tinos-700-cyrillic.8e472b874766.woff2",
        greek: "tinos-700-greek.c2bd563798da.woff2",
      },
      fallbacks: { "noto-serif": [84.5, 105.5, 25.6], "dejavu-serif": [75.9, 117.5, 28.5] },
    },
    "400i": {
      files: {
        latin: "tinos-400i-latin.6f0cb797289f.woff2",
        cyrillic: "tinos-400i-cyrillic.7a6df0612f70.woff2",
        greek: "tinos-400i-greek.1beee9ac1786.woff2",
      },
      fallbacks: { "noto-serif": [87, 102.4, 24.9], "dejavu-serif": [79, 112.8, 27.4] },
    },
    "700i": {
      files: {
        latin: "tinos-700i-latin.2c0e62cdb3c4.woff2",
        cyrillic: "tinos-700i-cyrillic.c479998a95e9.woff2",
        greek: "tinos-700i-greek.eb04a0e69f23.woff2",
      },
      fallbacks: { "noto-serif": [80.9, 110.1, 26.7], "dejavu-serif": [73.4, 121.4, 29.5] },
    },
  },
} as const;
