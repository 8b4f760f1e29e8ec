import { declared, people, type Row, variant } from "./row.ts";

const iphoneAgent =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
const desktopAgent =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36";

const [iphone, desktop] = people("A person's browser: counted.", [
  ["An iPhone opens a printed code", "MOBILE", "Safari", "iOS", "Apple", iphoneAgent],
  ["A desktop opens a link", "DESKTOP", "Chrome", "Windows", "", desktopAgent],
]) as [Row, Row]; // two lines in, two rows out
const [crawler] = declared("crawler", "A crawler: not counted.", [
  [
    "Googlebot finds a printed code",
    "Googlebot",
    "Google",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  ],
]) as [Row];

const actions: Row[] = [
  variant(
    iphone,
    { name: "A scanned code", query: "?qr", why: "QR codes carry the bare marker: a scan." },
    { action: "SCAN" },
  ),
  variant(
    iphone,
    {
      name: "A scanned code, marker with an equals sign",
      query: "?qr=",
      why: "Some apps complete a bare parameter: still a scan.",
    },
    { action: "SCAN" },
  ),
  variant(
    iphone,
    {
      name: "A scanned code with campaign parameters",
      query: "?utm_source=poster&qr",
      why: "The marker may stand anywhere in the query.",
    },
    { action: "SCAN" },
  ),
  variant(
    iphone,
    {
      name: "A parameter of the visitor's own",
      query: "?qr=7",
      why: "With a value it is not our marker: a click.",
    },
    {},
  ),
  variant(
    iphone,
    {
      name: "A parameter that contains the marker's letters",
      query: "?qrcode",
      why: "Only `qr` itself is the marker.",
    },
    {},
  ),
  variant(desktop, { name: "A click", why: "No marker: a click." }, {}),
  variant(
    desktop,
    {
      name: "A person who opens the link five times",
      headers: { cookie: "svc_did=5a7d9c1e-0b63-4f52-9e1d-8f3a2c4b6d70" },
      repeat: 5,
      why: "Every visit of a person counts; first and returning are told apart by the cookie, not left out.",
    },
    {},
  ),
  variant(
    iphone,
    {
      name: "Five phones that look alike",
      repeat: 5,
      why: "Without a cookie nobody is taken for somebody else: five first visits, all counted.",
    },
    {},
  ),
  variant(
    crawler,
    {
      name: "A crawler with a scanned code",
      query: "?qr",
      why: "The action says how the address was reached, the actor who came: recorded as a scan, not counted.",
    },
    { action: "SCAN" },
  ),
];

const prefetch = { counted: false, reason: "prefetch", status: 503 } as const;
const picture = { counted: false, reason: "preview" } as const;
const part = { counted: false, reason: "embedded" } as const;
const fetchedAhead =
  "The browser fetches ahead, and nobody has opened the link: refused for now, so that the browser asks again when somebody does.";
const prefetches: Row[] = [
  variant(
    desktop,
    { name: "Chrome prefetches", headers: { "sec-purpose": "prefetch" }, why: fetchedAhead },
    prefetch,
  ),
  variant(
    desktop,
    { name: "Chrome prerenders", headers: { "sec-purpose": "prefetch;prerender" }, why: fetchedAhead },
    prefetch,
  ),
  variant(
    desktop,
    {
      name: "Chrome prefetches through its proxy",
      headers: { "sec-purpose": "prefetch;anonymous-client-ip" },
      why: fetchedAhead,
    },
    prefetch,
  ),
  variant(
    desktop,
    {
      name: "Chrome's page preview",
      headers: { "sec-purpose": "prefetch;prerender;preview" },
      why: fetchedAhead,
    },
    prefetch,
  ),
  variant(
    desktop,
    { name: "Older Chrome prefetches", headers: { purpose: "prefetch" }, why: fetchedAhead },
    prefetch,
  ),
  variant(
    desktop,
    { name: "Older Firefox prefetches", headers: { "x-moz": "prefetch" }, why: fetchedAhead },
    prefetch,
  ),
  variant(
    iphone,
    {
      name: "Safari draws a preview",
      headers: { "x-purpose": "preview" },
      why: "A picture of the page among others; nobody has opened the link: answered, not counted.",
    },
    picture,
  ),
  variant(
    iphone,
    {
      name: "Facebook's app fetches ahead",
      headers: { "x-purpose": "preview", "x-fb-http-engine": "Liger" },
      why: "The app would show what it has fetched, and ask no more: refused for now.",
    },
    prefetch,
  ),
  variant(
    crawler,
    {
      name: "A crawler that says it prefetches",
      headers: { "sec-purpose": "prefetch" },
      why: "It is no browser, and will not ask again: answered like any crawler.",
    },
    {},
  ),
  variant(
    iphone,
    { name: "Capital letters", headers: { "sec-purpose": "Prefetch" }, why: fetchedAhead },
    prefetch,
  ),
  variant(
    iphone,
    {
      name: "A scanned code, prefetched",
      query: "?qr",
      headers: { "sec-purpose": "prefetch" },
      why: fetchedAhead,
    },
    { ...prefetch, action: "SCAN" },
  ),
  variant(
    desktop,
    {
      name: "Another purpose",
      headers: { "sec-purpose": "something-else" },
      why: "Only prefetches are left out.",
    },
    {},
  ),
];

const apart =
  "The browser says that it loads a part of another page: nobody has opened the link. Answered and recorded, not counted.";
const embedded: Row[] = [
  ["An image of another page", { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }],
  ["A script of another page", { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" }],
  ["Fetched by a script", { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" }],
  ["Fetched by a script of the same site", { "sec-fetch-mode": "same-origin", "sec-fetch-dest": "empty" }],
].map(([name, headers]) =>
  variant(desktop, { name: name as string, headers: headers as Record<string, string>, why: apart }, part),
);
const opened: Row[] = [
  variant(
    desktop,
    {
      name: "A link that was clicked, by what Chrome says",
      headers: { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "sec-fetch-user": "?1" },
      why: "Somebody opened the link: counted.",
    },
    {},
  ),
  variant(
    desktop,
    {
      name: "A page in a frame of another page",
      headers: { "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" },
      why: "A frame shows the page to somebody, who may answer there: counted.",
    },
    {},
  ),
  variant(
    desktop,
    {
      name: "A mode that we do not know",
      headers: { "sec-fetch-mode": "teleport" },
      why: "It does not say that it is no navigation: counted.",
    },
    {},
  ),
];

const head = { recorded: false, counted: false } as const;
const heads: Row[] = [
  variant(
    desktop,
    {
      name: "HEAD of a browser's user agent",
      method: "HEAD",
      why: "HEAD asks for the headers only; nobody sees an answer: no event.",
    },
    head,
  ),
  variant(
    desktop,
    {
      name: "A burst of HEAD",
      method: "HEAD",
      repeat: 25,
      why: "Link checkers send many: none leaves an event.",
    },
    head,
  ),
  variant(
    iphone,
    {
      name: "HEAD of a scanned code",
      method: "HEAD",
      query: "?qr",
      why: "The marker changes nothing about HEAD.",
    },
    { ...head, action: "SCAN" },
  ),
  variant(crawler, { name: "HEAD of a crawler", method: "HEAD", why: "Nor does the actor." }, head),
  variant(
    desktop,
    {
      name: "HEAD that is a prefetch",
      method: "HEAD",
      headers: { "sec-purpose": "prefetch" },
      why: "No event, whatever the purpose.",
    },
    { ...head, status: 503 },
  ),
];

const spoofed =
  "Headers about the client's address count only from proxies the operator has named; class and count stay.";
const addresses: Row[] = [
  { "x-forwarded-for": "8.8.8.8" },
  { "x-forwarded-for": "8.8.8.8, 127.0.0.1" },
  { "x-real-ip": "8.8.8.8" },
  { forwarded: 'for=8.8.8.8;proto=https;host="example.org"' },
  { "cf-connecting-ip": "8.8.8.8" },
  { "true-client-ip": "8.8.8.8" },
  { "x-forwarded-for": "not an address" },
].map((headers) =>
  variant(
    desktop,
    {
      name: `A spoofed address: ${JSON.stringify(headers)}`,
      headers: headers as Record<string, string>,
      why: spoofed,
    },
    {},
  ),
);

const asked = "The browser asks not to be tracked: counted, and no more than level BASIC is kept.";
const consent: Row[] = [
  variant(desktop, { name: "Do Not Track", headers: { dnt: "1" }, why: asked }, { level: "BASIC" }),
  variant(
    iphone,
    { name: "Global Privacy Control", headers: { "sec-gpc": "1" }, why: asked },
    { level: "BASIC" },
  ),
  variant(
    iphone,
    { name: "Both", query: "?qr", headers: { dnt: "1", "sec-gpc": "1" }, why: asked },
    { level: "BASIC", action: "SCAN" },
  ),
  variant(
    desktop,
    { name: "Do Not Track, switched off", headers: { dnt: "0" }, why: "A zero is not a wish." },
    {},
  ),
];

const claim = "Programs that hide behind a browser's user agent";
const signed: Row[] = [
  variant(
    desktop,
    {
      name: "ChatGPT drives a browser",
      headers: { "signature-agent": '"https://chatgpt.com"' },
      why: `${claim} may name themselves by Signature-Agent: AGENT, not counted.`,
    },
    {
      deviceActor: "AGENT",
      deviceActorName: "ChatGPT Agent",
      deviceActorOrigin: "OpenAI",
      counted: false,
      reason: "assistant",
    },
  ),
  variant(
    desktop,
    {
      name: "ChatGPT drives a browser, and signs with a label",
      headers: { "signature-agent": 'sig1="https://chatgpt.com"' },
      why: `${claim} may name themselves by Signature-Agent, a dictionary by now: AGENT, not counted.`,
    },
    {
      deviceActor: "AGENT",
      deviceActorName: "ChatGPT Agent",
      deviceActorOrigin: "OpenAI",
      counted: false,
      reason: "assistant",
    },
  ),
  variant(
    desktop,
    {
      name: "Chrome without a window, by its brands",
      headers: { "sec-ch-ua": '"HeadlessChrome";v="129", "Not=A?Brand";v="8", "Chromium";v="129"' },
      why: `${claim} may still have brands of their own: BOT, not counted.`,
    },
    {
      deviceActor: "BOT",
      deviceActorName: "Headless Chrome",
      browserName: "",
      counted: false,
      reason: "program",
    },
  ),
  variant(
    desktop,
    {
      name: "An unknown program signs",
      headers: { "signature-agent": '"https://crawler.example"' },
      why: `${claim} and sign for a host we do not know are BOT.`,
    },
    {
      deviceActor: "BOT",
      deviceActorName: "crawler.example",
      counted: false,
      reason: "crawler",
    },
  ),
  variant(
    desktop,
    {
      name: "A program that takes the user agent of a browser",
      why: `${claim} and say nothing cannot be told from a person by one request: counted. This is the limit of the contract.`,
    },
    {},
  ),
];

const disguised: Row[] = [
  variant(
    iphone,
    {
      name: "Googlebot for smartphones",
      headers: {
        "user-agent":
          "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.7204.100 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
      },
      why: "It asks for what phones get, so conditions on devices treat it like a phone: BOT of form factor MOBILE, not counted.",
    },
    {
      deviceType: "MOBILE",
      deviceActor: "BOT",
      deviceActorName: "Googlebot",
      deviceActorOrigin: "Google",
      counted: false,
      reason: "crawler",
      browserName: "",
      platformName: "Android",
      deviceBrand: "Google",
    },
  ),
  variant(
    iphone,
    {
      name: "iMessage, which names Facebook and Twitter",
      headers: {
        "user-agent":
          "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
      },
      why: "The phone draws the preview of a message; nobody has tapped it yet: BOT, not counted.",
    },
    {
      deviceType: "DESKTOP",
      deviceActor: "BOT",
      deviceActorName: "iMessage link preview",
      deviceActorOrigin: "Apple",
      counted: false,
      reason: "link preview",
      browserName: "",
      platformName: "macOS",
      deviceBrand: "Apple",
    },
  ),
  variant(
    iphone,
    {
      name: "Skype and Microsoft Teams",
      headers: {
        "user-agent":
          "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
      },
      why: "A preview in a chat: BOT, not counted.",
    },
    {
      deviceType: "DESKTOP",
      deviceActor: "BOT",
      deviceActorName: "Skype link preview",
      deviceActorOrigin: "Microsoft",
      counted: false,
      reason: "link preview",
      browserName: "",
      platformName: "Windows",
      deviceBrand: "",
    },
  ),
  variant(
    iphone,
    {
      name: "Chrome without a window",
      headers: {
        "user-agent":
          "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36",
      },
      why: "A browser that has no screen has nobody before it: BOT, not counted.",
    },
    {
      deviceType: "DESKTOP",
      deviceActor: "BOT",
      deviceActorName: "Headless Chrome",
      counted: false,
      reason: "program",
      browserName: "",
      platformName: "Linux",
      deviceBrand: "",
    },
  ),
  variant(
    iphone,
    {
      name: "Lighthouse",
      headers: {
        "user-agent":
          "Mozilla/5.0 (Linux; Android 11; moto g power (2022)) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Mobile Safari/537.36 Chrome-Lighthouse",
      },
      why: "A measurement: BOT, not counted.",
    },
    {
      deviceType: "MOBILE",
      deviceActor: "BOT",
      deviceActorName: "Lighthouse",
      deviceActorOrigin: "Google",
      counted: false,
      reason: "crawler",
      browserName: "",
      platformName: "Android",
      deviceBrand: "Motorola",
    },
  ),
];

const android = (device: string, rest = "") =>
  `Mozilla/5.0 (Linux; Android 14; ${device}) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/138.0.0.0 Mobile Safari/537.36${rest}`;
const nothingSaid = "In the user agent of a browser, models and separators say nothing: HUMAN, counted.";
const mistaken: Row[] = [
  ["A phone called Discovery", "Chrome", "", android("Discovery Note 2")],
  ["A phone called M bot", "Chrome", "", android("M bot 60 Build/NRD90M; wv")],
  [
    "Alipay on Android, which separates with bars",
    "Alipay",
    "vivo",
    android(
      "V2183A Build/UP1A.231005.007; wv",
      " AliApp(AP/10.6.20.8000) AlipayClient/10.6.20.8000 ws:360|0|2.0 Language/zh-Hans isConcaveScreen/false",
    ),
  ],
  ["Sogou's browser", "Sogou Browser", "Xiaomi", android("MI 9", " SogouMSE,SogouMobileBrowser/5.31.20")],
].map(([name = "", browserName = "", deviceBrand = "", userAgent = ""]) =>
  variant(
    iphone,
    { name, headers: { "user-agent": userAgent }, why: nothingSaid },
    { browserName, platformName: "Android", deviceBrand },
  ),
);

const nameless = {
  deviceType: "UNKNOWN",
  deviceActor: "UNKNOWN",
  browserName: "",
  platformName: "",
  deviceBrand: "",
  reason: "unrecognised user agent",
} as const;
const benefit = "Nothing says that this is a program; when in doubt it is counted: UNKNOWN.";
const terse =
  "No browser introduces itself like this, and a quarter of the crawlers in public lists does: BOT, not counted.";
const nameOnly = { ...nameless, deviceActor: "BOT", reason: "crawler", counted: false } as const;
const { "user-agent": _, ...withoutAgent } = iphone.headers;
const unknown: Row[] = [
  {
    ...variant(
      iphone,
      { name: "No user agent", why: "Some privacy tools remove it. When in doubt it is counted: UNKNOWN." },
      { ...nameless, reason: "no user agent" },
    ),
    headers: withoutAgent,
  },
  variant(
    iphone,
    { name: "An empty user agent", headers: { "user-agent": "" }, why: benefit },
    { ...nameless, reason: "no user agent" },
  ),
  variant(
    iphone,
    { name: "A single word", headers: { "user-agent": "asdf" }, why: terse },
    { ...nameOnly, deviceActorName: "asdf" },
  ),
  variant(
    iphone,
    { name: "Only Mozilla", headers: { "user-agent": "Mozilla/5.0" }, why: terse },
    { ...nameOnly, deviceActorName: "Unnamed bot" },
  ),
  variant(
    iphone,
    { name: "Only a dash", headers: { "user-agent": "-" }, why: terse },
    { ...nameOnly, deviceActorName: "Unnamed bot" },
  ),
  variant(
    iphone,
    {
      name: "A form that we do not know",
      headers: { "user-agent": "MyPhone (Smart; iOS) talks" },
      why: benefit,
    },
    nameless,
  ),
  variant(
    iphone,
    {
      name: "Script in the user agent",
      headers: { "user-agent": "<script>alert(1)</script>" },
      why: terse,
    },
    { ...nameOnly, deviceActorName: "script" },
  ),
  variant(
    iphone,
    { name: "An overlong user agent", headers: { "user-agent": "A".repeat(4_000) }, why: terse },
    { ...nameOnly, deviceActorName: "A".repeat(60) },
  ),
];

const named = {
  deviceType: "NATIVE",
  browserName: "",
  platformName: "",
  deviceBrand: "",
  reason: "scanner app",
} as const;
const library = { ...named, deviceActor: "UNKNOWN", reason: "native client" } as const;
const scanner =
  "A scanner app fetches what it has scanned without a browser; a person holds the phone: NATIVE, HUMAN, counted.";
const app =
  "Only phone apps send this, scanner apps too, and it tells nothing of who is there: NATIVE, UNKNOWN, counted.";
const apps: Row[] = [
  variant(
    iphone,
    { name: "ZXing's scanner", query: "?qr", headers: { "user-agent": "ZXing (Android)" }, why: scanner },
    { ...named, action: "SCAN" },
  ),
  variant(
    iphone,
    {
      name: "A QR reader on iOS",
      query: "?qr",
      headers: { "user-agent": "QRReader/5.1 CFNetwork/1408.0.4 Darwin/22.5.0" },
      why: scanner,
    },
    { ...named, action: "SCAN" },
  ),
  variant(
    iphone,
    {
      name: "A QR scanner on iOS with a name of two words",
      query: "?qr",
      headers: { "user-agent": "QR%20Code/3 CFNetwork/1494.0.7 Darwin/23.4.0" },
      why: scanner,
    },
    { ...named, action: "SCAN" },
  ),
  variant(
    iphone,
    {
      name: "A barcode scanner",
      query: "?qr",
      headers: { "user-agent": "BarcodeScanner/4.7 okhttp/4.9.3" },
      why: scanner,
    },
    { ...named, action: "SCAN" },
  ),
  variant(
    iphone,
    { name: "NeoReader", query: "?qr", headers: { "user-agent": "NeoReader/5.0" }, why: scanner },
    { ...named, action: "SCAN" },
  ),
  variant(
    iphone,
    {
      name: "An app on iOS",
      query: "?qr",
      headers: { "user-agent": "Lens/12 CFNetwork/1498.700.2 Darwin/23.6.0" },
      why: app,
    },
    { ...library, action: "SCAN" },
  ),
  variant(
    iphone,
    {
      name: "An app on Android that names its phone",
      query: "?qr",
      headers: { "user-agent": "okhttp/4.12.0 (Android 14; SM-S921B)" },
      why: app,
    },
    { ...library, action: "SCAN" },
  ),
  variant(
    iphone,
    {
      name: "An app on Android with the system's client",
      query: "?qr",
      headers: { "user-agent": "Dalvik/2.1.0 (Linux; U; Android 13; SM-G991B Build/TP1A.220624.014)" },
      why: app,
    },
    { ...library, platformName: "Android", deviceBrand: "Samsung", action: "SCAN" },
  ),
  variant(
    iphone,
    {
      name: "An app made with Alamofire",
      headers: { "user-agent": "Shop/2.1 (com.example.shop; build:7; iOS 17.5.1) Alamofire/5.9.1" },
      why: app,
    },
    library,
  ),
  variant(
    iphone,
    {
      name: "Safari fetches an icon",
      headers: { "user-agent": "MobileSafari/8618.2.12.10.9 CFNetwork/1498.700.2 Darwin/23.6.0" },
      why: "The system fetches something beside the page; the visit itself is another request: BOT, not counted.",
    },
    {
      ...named,
      deviceType: "UNKNOWN",
      deviceActor: "BOT",
      deviceActorName: "Apple background fetch",
      deviceActorOrigin: "Apple",
      counted: false,
      reason: "link preview",
    },
  ),
];

/** Requests with more than a user agent, and user agents that need more than a line. */
export const requests: readonly Row[] = [
  ...actions,
  ...prefetches,
  ...embedded,
  ...opened,
  ...heads,
  ...addresses,
  ...consent,
  ...signed,
  ...disguised,
  ...mistaken,
  ...unknown,
  ...apps,
];
