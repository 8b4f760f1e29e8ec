/*
 * Browsers whose user agents have unusual forms: those of old phones, of systems that few people use, of the nineties,
 * and text browsers. Such a user agent may contain all kinds of words, so less is concluded from them.
 */

/** Browsers and phones that name themselves at the beginning of the user agent. */
const atBeginning =
  /^(?:Mozilla\/\d\.0 (?=[A-Z]))?(?:BlackBerry|Nokia|SAMSUNG[- ]|SEC-|SIE-|KWC-|LGE?[-/ ]|LG[A-Z]{0,2}\d|MOT-|MOTO|Alcatel|Panasonic|Sanyo|SAGEM|PHILIPS|SHARP|Palm|Qtek|SonyEricsson|Ericsson|ZTE|HTC[-_ ]|ASUS-|Amoi[- ]|BIRD[. ]|MQQBrowser\/|Lenovo|HUAWEI|Kyocera|NEC-|Coolpad|Audiovox|Mitsu|BenQ|Dopod|Haier|Pantech|Sendo|O2[- ]|Xda|T-Mobile |E?Links[ /]|Firefox\/\d|MSIE \d|Chimera[ /]|Surf\/|Uzbl |Arachne|xChaos_Arachne|K-Meleon\/|Emacs-W3\/|retawq\/|edbrowse\/|Lobo\/|amaya\/|HotJava\/|Cyberdog\/|IBrowse|AmigaVoyager|Blazer|UPG\d|Bunjalloo\/|ANTFresco|GoBrowser|Maui|POLARIS|TeaShark|OneBrowser|jBrowser|wii libnup|(?:Microsoft )?Internet Explorer\/\d|IBM[- ]WebExplorer|WorldWideWeb|Galaxy\/|Sundance|Lunascape|Shiira|Sunrise|Xiino\/|xombrero\/|luakit\b|Contiki\/|Avant ?Browser|SlimBrowser|(?:Element|Enigma|T-Online|GNU IceCat|Deepnet)\b|(?:NCSA[ _])?Mosaic)/i;

/** Names of browsers at any place. */
const named =
  /MIDP-\d|UP\.(?:Browser|Link)|Opera(?: Mini|[ /]\d)|UCWEB\/?\d|NetFront|SymbianOS|HbbTV\/|\b(?:Konqueror|Dillo|NetSurf|Iceweasel|Midori|Galeon|Sleipnir|iTunes|NCSA_Mosaic|Doris|portalmmm|DoCoMo|KDDI|SoftBank|J-PHONE|Vodafone|Lynx|ELinks|w3m|NetPositive|NCBrowser|OmniWeb|ABrowse|iCab|Oregano|WannaBe|WebTV|Netscape6?|WAP[- ]Browser|Phoenix|BonEcho|Minefield|Tbrowser|Obigo|Teleca|Polaris|Dolfin|Kindle|PocketBook|S40OviBrowser|Planetweb|Netbox|OffByOne|BrowseX|ibisBrowser|Dorado|Charon|AWeb|DuckDuckGo|PocketBook|Fireweb|FOMA|Web[Pp]ositive|jig browser9?i?|hiptop|NAVIO_AOLTV|Elaine|DreamPassport|Lotus-Notes|PhaseOut|[A-Za-z]{2,20} [Bb]rowser(?=[/ ]\d)|AvantGo|UC Browser[\d.]*)\b[/; )-]/;

/** Internet Explorer, and the browsers that say that they are one. Programs put a name of their own before. */
const explorer = /\bMSP?IE \d/i;
const explorersForm = /^Opera[ /]|\bMozilla ?\/\d|Windows CE/i;

/** Netscape's form, of which no later browser is: `Mozilla/4.05 [en] (Win95; I)`. */
const netscape =
  /^Mozilla\/[0-4]\.\d{1,3}\S{0,20} ?(?:\S{0,40} ){0,4}\((?:Win(?:16|95|98|NT|dows)|X11|Mac|OS\/2|PSP|Planetweb|WorldGate)/;

/** Systems of people that bring their own browsers. */
const rareSystem =
  /\b(?:KAIOS\/\d|AmigaOS|MorphOS|AROS|Syllable|BeOS|Haiku|RISC OS|OS\/2|Mac_PowerPC|Mac_68K|Nintendo|PlayStation|PSP\b|Dreamcast|Windows CE|Series[346]0|Symbian|PalmOS|webOS|Tizen|Bada|MeeGo|Maemo)/i;
/** Unix systems on which both people and programs work. A browser there names its windows or its engine. */
const rareUnix = /\b(?:FreeBSD|OpenBSD|NetBSD|DragonFly|SunOS|Solaris|IRIX|HP-UX|AIX|OSF1|UNIX)\b/;
const windowsOrEngine = /\bX11;|AppleWebKit\/|Gecko\/\d/;

/** Whether a user agent has the form of a browser that is not one of today's. */
export function isUnusualBrowser(userAgent: string): boolean {
  return (
    named.test(userAgent) ||
    atBeginning.test(userAgent) ||
    (explorer.test(userAgent) && explorersForm.test(userAgent)) ||
    netscape.test(userAgent) ||
    rareSystem.test(userAgent) ||
    (rareUnix.test(userAgent) && windowsOrEngine.test(userAgent))
  );
}
