import type { DeclaredProgram } from "./declared.ts";

/**
 * Libraries, command-line programs, and browsers that a program drives. They say that they are programs, so no person
 * saw what they fetched, and they count as BOT. Libraries that also run on servers say no more in an app than there. What
 * names an app or a phone beside its library stands in `native-clients.ts`.
 */
export const programs: readonly DeclaredProgram[] = [
  { name: "Headless Chrome", origin: "", pattern: /HeadlessChrome|Puppeteer/i },
  { name: "Playwright", origin: "", pattern: /Playwright/i },
  { name: "PhantomJS", origin: "", pattern: /PhantomJS/i },
  { name: "Selenium", origin: "", pattern: /Selenium|WebDriver/i },
  { name: "Cypress", origin: "", pattern: /Cypress\/\d/i },
  { name: "Nightwatch", origin: "", pattern: /Nightwatch/i },
  { name: "TestCafe", origin: "", pattern: /TestCafe/i },
  { name: "Splash", origin: "", pattern: /\bSplash\b.{0,20}Safari/ },
  { name: "jsdom", origin: "", pattern: /\bjsdom\/\d/ },
  { name: "HtmlUnit", origin: "", pattern: /HtmlUnit/i },
  { name: "SlimerJS", origin: "", pattern: /SlimerJS/i },
  { name: "Zombie.js", origin: "", pattern: /Zombie\.js/i },
  { name: "wkhtmltopdf", origin: "", pattern: /wkhtmlto|webscreenie|\bwpif\b/i },
  {
    name: "Code editor",
    origin: "",
    pattern: /\b(?:Code|VSCodium|Cursor|Trae|Windsurf|Kiro|Antigravity)\/\d\S{0,40} .{0,80}Electron\//i,
  },
  { name: "Outlook", origin: "Microsoft", pattern: /^Outlook-(?:iOS|Android)\/|\bOneOutlook\// },
  { name: "Thunderbird", origin: "Mozilla", pattern: /\bThunderbird\/\d/ },
  { name: "Siege", origin: "", pattern: /\bSiege\/\d/i },
  { name: "Fetch API", origin: "", pattern: /Fetch API Request/ },
  { name: "Kimono", origin: "", pattern: /KimonoLabs/i },
  { name: "curl", origin: "", pattern: /^(?:lib)?curl\b/i },
  { name: "Wget", origin: "", pattern: /^Wget\b/i },
  { name: "HTTPie", origin: "", pattern: /^HTTPie\//i },
  { name: "Postman", origin: "", pattern: /^PostmanRuntime\//i },
  { name: "Insomnia", origin: "", pattern: /^insomnia\//i },
  { name: "Python requests", origin: "", pattern: /^python-requests\//i },
  { name: "Python", origin: "", pattern: /^Python(?:-urllib|-httpx)?\/|aiohttp\/|^Scrapy\/|^httpx\//i },
  { name: "Go", origin: "", pattern: /^Go-http-client\/|^Go \d.*package http|^colly\b|^fasthttp/i },
  {
    name: "Java",
    origin: "",
    pattern: /^Java(?:-http-client)?\/|^Apache-HttpClient|^Jakarta Commons|^Jersey\/|^ReactorNetty\//i,
  },
  {
    name: "Node.js",
    origin: "",
    pattern: /^node(?:-fetch|\.js)?(?:\/|$)|^axios\/|^got(?:\/| \()|^undici(?:\/|$)|^superagent|^needle\//i,
  },
  { name: "Deno", origin: "", pattern: /^Deno\//i },
  { name: "Bun", origin: "", pattern: /^Bun\//i },
  { name: "PHP", origin: "", pattern: /^PHP(?:\/|$)|^GuzzleHttp\/|^Symfony HttpClient|^WordPress\//i },
  { name: "Ruby", origin: "", pattern: /^Ruby$|^Faraday|^http\.rb\/|^Typhoeus|^HTTParty/i },
  { name: "Perl", origin: "", pattern: /^libwww-perl|^LWP::|^Mojolicious/i },
  { name: ".NET", origin: "", pattern: /^\.NET|^RestSharp\//i },
  { name: "Rust", origin: "", pattern: /^reqwest\/|^hyper\/|^ureq\//i },
  { name: "OkHttp", origin: "", pattern: /^okhttp(?:\/[\w.-]{1,40})?$/i },
  { name: "Dart", origin: "", pattern: /^Dart\/\d/ },
  { name: "Ktor", origin: "", pattern: /^ktor[- ]client/i },
  {
    name: "Swift",
    origin: "",
    pattern: /^(?:Alamofire|AFNetworking|CFNetwork|URLSession|SwiftHTTP|Vapor)\//i,
  },
  { name: "Android", origin: "", pattern: /^(?:Volley|Cronet|Retrofit|Android-Async-Http)(?:\/|$)/i },
  { name: "PowerShell", origin: "", pattern: /WindowsPowerShell|PowerShell\/\d/i },
  {
    name: "Load generator",
    origin: "",
    pattern: /^(?:ApacheBench|wrk|hey|k6|Locust|Vegeta|oha|autocannon|Siege)\b/i,
  },
];
