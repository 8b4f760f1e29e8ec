/** Scanner apps that name themselves: a person held the phone, so they are HUMAN, of device type NATIVE. */
export const scannerApps: readonly RegExp[] = [
  /^ZXing\b/i,
  /^(?:QR|Barcode|Bar-Code|Scan(?:ner|ova|Life|bot|dit)?\b|NeoReader|i-nigma|BeeTagg|QuickMark|RedLaser|ShopSavvy|Bakodo)[^(]*(?:\/|$)/i,
  /^[^()]*\b(?:QR ?(?:Code|Reader|Scanner|Droid)|Barcode ?(?:Reader|Scanner))\b/i,
  /^[^()]*(?:QRCode|QRReader|QRScanner|QrDroid|BarcodeScanner|BarcodeReader)/i,
];

/**
 * What apps on phones use when they fetch without a browser. Scanner apps do, but so may anything else that was built
 * with the same library: device type NATIVE, actor UNKNOWN.
 */
export const nativeClients: readonly RegExp[] = [
  /\bCFNetwork\/\S{1,200} Darwin\//,
  /^Dalvik\//,
  /^okhttp\//i,
  /\bAlamofire\//,
  /^Dart\//,
  /^Ktor client|^ktor-client/i,
  /^Expo\//,
  /^Cronet\/|^TrafficStats|^Volley\//i,
];
