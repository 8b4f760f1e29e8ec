/** Scanner apps that name themselves. A person held the phone, so they are HUMAN, of device type NATIVE. */
export const scannerApps: readonly RegExp[] = [
  /^ZXing\b/i,
  /^(?:QR|Barcode|Bar-Code|Scan(?:ner|ova|Life|bot|dit)?\b|NeoReader|i-nigma|BeeTagg|QuickMark|RedLaser|ShopSavvy|Bakodo)[^(]*(?:\/|$)/i,
  /^[^()]*\b(?:QR ?(?:Code|Reader|Scanner|Droid)|Barcode ?(?:Reader|Scanner))\b/i,
  /^[^()]*(?:QRCode|QRReader|QRScanner|QrDroid|BarcodeScanner|BarcodeReader)/i,
];

/**
 * What phone apps send when they fetch a page without a browser: a library of phones, and the app or the phone. Scanner
 * apps do so, but so may any other app: device type NATIVE, actor UNKNOWN.
 */
export const nativeClients: readonly RegExp[] = [
  /\bCFNetwork\/\S{1,200} Darwin\//,
  /^AppleCoreMedia\/|^Apple i\w{2,5} .{0,40}CoreMedia v/,
  /^Dalvik\//,
  /^okhttp\//i,
  /\bAlamofire\//,
  /^Expo\//,
];
