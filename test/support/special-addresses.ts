/** The first and the last address of every network that customers must not reach. */
export const specialNetworks: readonly (readonly [first: string, last: string])[] = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["168.63.129.16", "168.63.129.16"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.31.196.0", "192.31.196.255"],
  ["192.52.193.0", "192.52.193.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["192.175.48.0", "192.175.48.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "239.255.255.255"],
  ["240.0.0.0", "255.255.255.255"],
  ["::", "::1"],
  ["::127.0.0.1", "::10.0.0.1"],
  ["::ffff:0.0.0.0", "::ffff:255.255.255.255"],
  ["64:ff9b::", "64:ff9b::ffff:ffff"],
  ["64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
  ["100::", "100::ffff:ffff:ffff:ffff"],
  ["2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"],
  ["2001:10::", "2001:2f:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"],
  ["3ffe::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["4000::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
];

/** An IPv4 address as hosts of addresses may write it. */
function notationsOf(address: string): readonly string[] {
  const parts = address.split(".").map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const octal = (part: number) => `0${part.toString(8)}`;
  const hexadecimal = (part: number) => `0x${part.toString(16)}`;
  const wide = [...address].map((each) =>
    each === "." ? "。" : String.fromCodePoint(0xff10 + Number(each)),
  );
  return [
    address,
    `${address}.`,
    String(number),
    octal(number),
    hexadecimal(number),
    parts.map(octal).join("."),
    parts.map(hexadecimal).join("."),
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    wide.join(""),
    `[::ffff:${address}]`,
    `[::ffff:${hexadecimal(a * 256 + b).slice(2)}:${hexadecimal(c * 256 + d).slice(2)}]`,
    `[0:0:0:0:0:FFFF:${address}]`,
    `[64:ff9b::${address}]`,
    `[2002:${hexadecimal(a * 256 + b).slice(2)}:${hexadecimal(c * 256 + d).slice(2)}::1]`,
  ];
}

/** Hosts of addresses that must not be reached: every special network in every notation. */
export const specialHosts: readonly string[] = [
  ...specialNetworks
    .flat()
    .flatMap((address) => (address.includes(":") ? [`[${address}]`] : notationsOf(address))),
  ...["localhost", "LOCALHOST.", "api.localhost", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ"],
];
