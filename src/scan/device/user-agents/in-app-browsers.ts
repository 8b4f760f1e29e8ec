/**
 * Browsers inside other apps, by the name reported for them. A person uses them, like any browser. The first group of
 * the pattern is the version. The first match wins: Messenger and Instagram also carry the marks of Facebook.
 */
export const inAppBrowsers: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  { name: "Threads", pattern: /\bBarcelona (\d[\d.]*)/ },
  { name: "Instagram", pattern: /\bInstagram (\d[\d.]*)/ },
  {
    name: "Messenger",
    pattern:
      /FBAN\/Messenger\S{0,200}?FBAV\/(\d[\d.]*)|\[FB_IAB\/(?:Orca|MESSENGER)\S{0,200}?FBAV\/(\d[\d.]*)/,
  },
  { name: "Facebook", pattern: /\bFBAV\/(\d[\d.]*)|\bFBAN\/|\[FB_IAB\// },
  { name: "TikTok", pattern: /\b(?:musical_ly|trill|TikTok)[_ /](\d[\d.]*)|BytedanceWebview|\bByteLocale\// },
  { name: "WeChat", pattern: /\bMicroMessenger\/(\d[\d.]*)/ },
  { name: "LINE", pattern: /\bLine\/(\d[\d.]*)/ },
  { name: "KakaoTalk", pattern: /\bKAKAOTALK[ /](\d[\d.]*)/i },
  { name: "Snapchat", pattern: /\bSnapchat\/(\d[\d.]*)/ },
  { name: "Pinterest", pattern: /\[Pinterest\/(?:iOS|Android)\]/ },
  { name: "LinkedIn", pattern: /\[?\bLinkedInApp\]?(?:\/(\d[\d.]*))?/ },
  { name: "X", pattern: /\bTwitter for (?:iPhone|iPad)(?:\/(\d[\d.]*))?|\bTwitterAndroid\b/ },
  { name: "Reddit", pattern: /\bReddit\/(?:Version )?(\d[\d.]*)/ },
  { name: "Telegram", pattern: /\bTelegram-(?:Android|iOS)\/(\d[\d.]*)/ },
  { name: "Google app", pattern: /\bGSA\/(\d[\d.]*)/ },
  { name: "Viber", pattern: /\bViber\/(\d[\d.]*)/ },
  { name: "QQ", pattern: /\bQQ\/(\d[\d.]*)/ },
  { name: "Weibo", pattern: /\bWeibo \(|__weibo__(\d[\d.]*)/i },
  { name: "Alipay", pattern: /\bAlipayClient\/(\d[\d.]*)/ },
  { name: "Naver", pattern: /\bNAVER\(inapp; \S+; \d+; (\d[\d.]*)/ },
  { name: "Slack", pattern: /\bSlack(?:_SSB)?\/(\d[\d.]*)/ },
  { name: "Discord", pattern: /\b[Dd]iscord\/(\d[\d.]*)/ },
  { name: "Microsoft Teams", pattern: /\bTeams\/(\d[\d.]*)/ },
];
