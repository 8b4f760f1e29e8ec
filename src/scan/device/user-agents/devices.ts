/**
 * Browsers by the name that the bowser package gives them. Upper-cased, with `_` for a space, our names of browsers,
 * platforms and brands are the bare values of the contract's conditions: `Samsung Browser` is SAMSUNG_BROWSER.
 */
export const browserNames: Readonly<Record<string, string>> = {
  Chrome: "Chrome",
  Safari: "Safari",
  Firefox: "Firefox",
  "Microsoft Edge": "Edge",
  Opera: "Opera",
  "Samsung Internet for Android": "Samsung Browser",
  "Opera Coast": "Opera",
  "Opera Touch": "Opera",
  Miui: "Miui Browser",
};

/** Platforms by the name that the bowser package gives them. */
export const platformNames: Readonly<Record<string, string>> = {
  iOS: "iOS",
  Android: "Android",
  Windows: "Windows",
  macOS: "macOS",
  Linux: "Linux",
  "Chrome OS": "ChromeOS",
  iPadOS: "iOS",
};

/** Brands by the model name that Android user agents carry. The first match wins. */
export const modelBrands: readonly { readonly brand: string; readonly pattern: RegExp }[] = [
  { brand: "Samsung", pattern: /^(?:SAMSUNG\b|SM-|GT-|SCH-|SGH-|SHV-|SC-\d|SCG\d|Galaxy)/i },
  { brand: "Google", pattern: /^(?:Pixel|Nexus|G0\d\w|GP\d)/ },
  {
    brand: "OnePlus",
    pattern:
      /^(?:ONEPLUS|OnePlus|(?:AC|BE|DN|DE|EB|GM|GN|HD|IN|IV|KB|LE|MT|NE)2?\d{3}$|CPH2(?:4[1-59]\d|5[1358]\d)$)/,
  },
  {
    brand: "Huawei",
    pattern:
      /^(?:HUAWEI\b|Huawei|(?:ALN|ALP|ANA|ANE|BLA|BRA|CLT|CDY|ELE|ELS|EML|EVA|EVR|FIG|GLA|HMA|INE|JNY|LIO|LYA|MAR|MHA|NOH|NOP|OCE|PAR|POT|SNE|STK|TAS|VCE|VKY|VOG|VTR|WAS|YAL)-[A-Z]{1,2}\d)/,
  },
  {
    brand: "Honor",
    pattern:
      /^(?:HONOR\b|Honor|(?:ANY|BVL|CMA|CRT|FNE|FRI|LGE|MAA|NTH|PGT|REA|REP|RKY|RMO|VNE)-[A-Z]{1,2}\d)/,
  },
  {
    brand: "Xiaomi",
    pattern:
      /^(?:Xiaomi|Redmi|POCO|Poco|Mi \w|MI \w|MIX|HM NOTE|M2\d{3}|20[12]\d{4}$|2[0-9]{3}[0-9A-F]{2,4}[0-9A-Z]*[A-Z]$)/,
  },
  { brand: "Motorola", pattern: /^(?:moto\b|Moto|motorola|XT\d{4})/ },
  { brand: "OPPO", pattern: /^(?:OPPO|CPH\d{4}|P[A-Z]{2}M\d)/ },
  { brand: "realme", pattern: /^(?:RMX\d|realme)/ },
  { brand: "vivo", pattern: /^(?:vivo\b|V\d{4}[A-Z]?$|I\d{4}$)/ },
  { brand: "Sony", pattern: /^(?:XQ-|Sony|SO-\d|SOG?V?\d{2}|SGP\d{3}|SonyEricsson|[C-H]\d{4}$)/ },
  { brand: "Nokia", pattern: /^(?:Nokia|TA-\d{4})/ },
  { brand: "LG", pattern: /^(?:LG-|LM-|LGE?\b|(?:VS|LS|RS|MS)\d{3}\b)/ },
  { brand: "Nothing", pattern: /^A0\d{2}|^Nothing/ },
  { brand: "Fairphone", pattern: /^FP\d|^Fairphone/ },
  { brand: "Lenovo", pattern: /^(?:Lenovo|TB-?[A-Z0-9]{3})/ },
  { brand: "Amazon", pattern: /^(?:KF[A-Z]{3,4}|Kindle|Fire$|Amazon)/ },
  { brand: "ASUS", pattern: /^(?:ASUS|ZS\d{3}|[ZPK]0\d\w\b|ME\d{3}\w?$)/ },
  { brand: "ZTE", pattern: /^ZTE/ },
  { brand: "TECNO", pattern: /^TECNO/ },
  { brand: "Infinix", pattern: /^Infinix/ },
  {
    brand: "HTC",
    pattern: /^(?:HTC|APA9292KT|PC36100|PG\d{5}|2P[QSXYZ]\w{3}|0P[A-Z]\w{3,5}$|One(?: [A-Z]|$)|ADR6\d{3})/,
  },
  { brand: "OnePlus", pattern: /^(?:ONE A\d{4}|ONE E\d{4}|A0001$)/ },
  { brand: "Meizu", pattern: /^(?:MX\d|MZ-|PRO \d|[mM]\d{1,2} ?[nN]ote)/ },
  { brand: "CAT", pattern: /^S(?:30|31|40|41|42|50c?|52|60|61|62)(?: Pro)?$/ },
  { brand: "General Mobile", pattern: /^GM ?\d/ },
  { brand: "Gigaset", pattern: /^GS\d{3}/ },
  { brand: "LYF", pattern: /^LS-\d{4}/ },
  { brand: "Alcatel", pattern: /^[4-9]0\d{2}[A-Z]$/ },
  { brand: "Vodafone", pattern: /^VFD? ?\d{3}/ },
  { brand: "Acer", pattern: /^[AB][13]-[A-Z]?\d{2}$/ },
  { brand: "Medion", pattern: /^[EPX]\d{4}X?$/ },
  { brand: "BlackBerry", pattern: /^(?:STV|BB[A-F])\d{3}/ },
  {
    brand: "Wiko",
    pattern: /^(?:W_|RAINBOW|SUNNY|SUNSET|PULP|CINK|LENNY|FEVER|JERRY|TOMMY|ROBBY|RIDGE|HIGHWAY)/,
  },
  { brand: "Wileyfox", pattern: /^(?:Swift|Spark|Storm)(?: |$)/ },
  // Three letters of a model, and of a market; Honor's own are above.
  { brand: "Huawei", pattern: /^[A-Z]\d{2,3}[a-z]?-[A-Z]\d{2}/ },
  { brand: "Huawei", pattern: /^[A-Z]{3}-(?:A|L|N|T|U|W)(?:L|N|X)?\d{1,3}[A-Z]?$/ },
];
