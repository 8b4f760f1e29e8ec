/**
 * Makers whose model names begin with the maker's name, in lower case, with the maker's own spelling. Model names of
 * other forms stand in `devices.ts`.
 */
const spelled: readonly string[] =
  "Acer,Advan,AGM,Alcatel,Allview,Archos,ASUS,BLU,Blackview,BlackBerry,bq,Bush,CAT,Celkon,Cherry,Condor,Coolpad,Cricket,CUBOT,Dell,DEXP,Digma,Doogee,Doov,Elephone,Energizer,Essential,Evercoss,Fairphone,Fly,Foxconn,Freetel,Fujitsu,General,Gigaset,Gionee,Haier,Hasee,Hisense,Homtom,Honor,HP,HTC,Huawei,iBall,iLA,Impression,InFocus,Infinix,Innjoo,Intex,itel,Karbonn,Kazam,Koobee,Kyocera,Lanix,Lava,Leagoo,LeEco,Leica,Lenovo,LG,LYF,M-HORSE,Maxwest,Meitu,Meizu,Micromax,Mobiwire,Motorola,MyPhone,Neffos,Nextbit,Nokia,Nomu,Nothing,NUU,OnePlus,OPPO,Orange,Orbic,OUKITEL,Panasonic,Pantech,Philips,Poptel,POCO,Positivo,Prestigio,QMobile,Razer,realme,Redmi,Sagem,Samsung,Sharp,Sky,Smartfren,Sony,Spice,Sugar,Symphony,TCL,TECNO,Teclast,Tesco,Toshiba,Turing,Ulefone,UMIDIGI,Umi,Unihertz,Vernee,Vertu,Verykool,Vestel,Vivax,vivo,Vodafone,Vonino,Walton,Wiko,Wileyfox,Xiaomi,Xolo,Yezz,YU,Zen,Zopo,ZTE,ZUK".split(
    ",",
  );

const makers: ReadonlyMap<string, string> = new Map([
  ...spelled.map((name): [string, string] => [name.toLowerCase(), name]),
  // Their phones carry the name of a family.
  ["aquaris", "bq"],
  ["bb10", "BlackBerry"],
  ["mot", "Motorola"],
  ["sonyericsson", "Sony"],
  ["desire", "HTC"],
  ["legend", "HTC"],
  ["sensation", "HTC"],
  ["wildfire", "HTC"],
  ["lumia", "Nokia"],
  ["mi", "Xiaomi"],
  ["poco", "Xiaomi"],
  ["redmi", "Xiaomi"],
  ["transformer", "ASUS"],
  ["xperia", "Sony"],
]);

/** The maker with whose name a model name begins; empty for any other model name. */
export function makerOf(model: string): string {
  const [word = ""] = model.split(/[\s_-]/, 1);
  return makers.get(word.toLowerCase()) ?? "";
}
