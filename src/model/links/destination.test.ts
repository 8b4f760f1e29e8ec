import { expect, test } from "vitest";
import { destinationFault, destinationName, hostAndParents, hostOf, isShortlinkOf } from "./destination.ts";

const good = [
  "https://example.com",
  "HTTP://EXAMPLE.COM/Path?q=1#part",
  "https://example.com:8443/a%20b?x=ä&y=%E4",
  "https://user@example.com/",
  "https://bücher.example/größe",
  "https://[2001:db8::1]/",
  "https://example.com/a b",
  "https://example.com/?next=javascript:alert(1)",
  "https://example.com/?path=a\\b",
  `https://example.com/${"a".repeat(2_028)}`,
  "mailto:person@example.com?subject=Hi",
  "tel:+4930123456",
  "sms:+4930123456?body=Hi",
  "geo:52.5,13.4",
  "whatsapp://send?text=Hi",
  "myapp://",
  "com.example.app:/open",
  "msteams:/l/meetup-join/1",
  "ms-windows-store://pdp/?productid=9wzdncrfj364",
  "market://details?id=com.example",
  "webcal://example.com/fair.ics",
  "spotify:track:1",
  "facetime:person@example.com",
];

const bad = [
  "",
  "example.com",
  "//example.com",
  "/path",
  "example.com:8080/menu",
  "localhost:3000",
  "https:example.com",
  "https://",
  "https:///example.com",
  "https://exa mple.com",
  "https://good.example\\@evil.example/",
  "https:\\\\evil.example",
  "https://example.com:99999/",
  "javascript:alert(1)",
  "JavaScript:alert(1)",
  "java\nscript:alert(1)",
  "\u0001javascript:alert(1)",
  " javascript:alert(1)",
  "data:text/html,<script>",
  "file:///etc/passwd",
  "blob:https://example.com/1",
  "vbscript:x",
  "filesystem:https://example.com/",
  "about:blank",
  "view-source:https://example.com/",
  "jar:https://example.com/a.jar!/b.html",
  "ms-msdt:/id PCWDiagnostic /skip force",
  "MS-MSDT:/id",
  "search-ms:query=a&crumb=location:\\\\evil.example\\share",
  "search:query=a",
  "ms-search:query=a",
  "ms-officecmd:{}",
  "ms-appinstaller:?source=https://evil.example/a.msix",
  "ms-excel:ofe|u|https://evil.example/a.xlsx",
  "ms-word:ofe|u|https://evil.example/a.docx",
  "ms-windows-store-x:a",
  "microsoft-edge:https://evil.example/",
  "googlechrome://evil.example/",
  "intent://evil.example/#Intent;scheme=https;end",
  "Intent:#Intent;S.browser_fallback_url=https://evil.example;end",
  "android-app://com.example",
  "chrome://settings",
  "edge://settings",
  "res://ieframe.dll/1",
  "itms-services://?action=download-manifest&url=https://evil.example/a.plist",
  "smb://evil.example/share",
  "ftp://example.com/",
  "ws://example.com/",
  "wss://example.com/",
  "telnet://example.com",
  "java\tscript:alert(1)",
  "javascript\u200b:alert(1)",
  "\u00a0javascript:alert(1)",
  "\ufeffjavascript:alert(1)",
  "jav\u0430script:alert(1)",
  "javascript%3Aalert(1)",
  "https://example.com/\r\nSet-Cookie: a=b",
  "https://example.com/\u0000",
  "https://example.com/\u2028",
  "https://example.com/\ud800",
  "mailto:",
  `https://example.com/${"a".repeat(2_029)}`,
];

test.each(good)("accepts %j", (text) => {
  expect(destinationFault(text)).toBeUndefined();
});

test.each(bad)("refuses %j", (text) => {
  expect(destinationFault(text)).toMatch(/^(must|is not)/);
});

test("reads the host as a browser looks it up", () => {
  expect(hostOf("https://BÜCHER.example./x")).toBe("xn--bcher-kva.example");
  expect(hostOf("https://user:secret@Example.com:8443")).toBe("example.com");
  expect(hostOf("http://0x7f.1/")).toBe("127.0.0.1");
  expect(hostOf("mailto:a@example.com")).toBeUndefined();
});

test("names a host and all domains above it, and addresses as they are", () => {
  expect(hostAndParents("a.b.example")).toEqual(["a.b.example", "b.example", "example"]);
  expect(hostAndParents("127.0.0.1")).toEqual(["127.0.0.1"]);
  expect(hostAndParents("[2001:db8::1]")).toEqual(["[2001:db8::1]"]);
});

test("names a destination by its host, or by what follows the scheme", () => {
  expect(destinationName("https://www.example.com:8080/menu?x")).toBe("www.example.com");
  expect(destinationName("https://xn--bcher-kva.example/")).toBe("bücher.example");
  expect(destinationName("mailto:person@example.com?subject=Hi")).toBe("person@example.com");
  expect(destinationName("myapp://")).toBe("myapp");
});

test("finds destinations that are short links of the service itself", () => {
  const origins = ["https://go.example", "http://localhost:8080"];
  expect(isShortlinkOf(origins, "https://GO.example/4BnH-R19p?x=1#y")).toBe(true);
  expect(isShortlinkOf(origins, "http://localhost:8080/menu/")).toBe(true);
  expect(isShortlinkOf(origins, "https://go.example./4BnH-R19p")).toBe(true);
  expect(isShortlinkOf(origins, "http://GO.EXAMPLE.:443/menu")).toBe(true);
  expect(isShortlinkOf(["https://go.example."], "https://go.example/menu")).toBe(true);
  expect(isShortlinkOf(origins, "https://go.example/")).toBe(false);
  expect(isShortlinkOf(origins, "https://go.example/docs")).toBe(false);
  expect(isShortlinkOf(origins, "https://go.example/shop/menu")).toBe(false);
  expect(isShortlinkOf(origins, "http://localhost:3000/menu")).toBe(false);
  expect(isShortlinkOf(origins, "mailto:menu@go.example")).toBe(false);
});
