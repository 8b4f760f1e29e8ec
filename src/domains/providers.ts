/** Where the records of a zone are edited, and how the provider wants them typed. */
export interface DnsProvider {
  /** The value of `DnsProvider` on the wire, without its prefix. */
  readonly key: string;
  /** For people. */
  readonly name: string;
  readonly settingsUrl: (zone: string) => string;
  /** The label of the field for a record's name. */
  readonly hostLabel: string;
  /** What is typed there for the zone itself. */
  readonly apex: "@" | "";
}

/** The last labels of name servers, and whose they are. Some providers have names with numbers: `awsdns-12`. */
const known: readonly (readonly [
  pattern: RegExp,
  key: string,
  name: string,
  settings: string,
  label: string,
  apex?: "",
])[] = [
  [
    /\.ns\.cloudflare\.com$/,
    "CLOUDFLARE",
    "Cloudflare",
    "https://dash.cloudflare.com/?to=/:account/{zone}/dns/records",
    "Name",
  ],
  [
    /\.domaincontrol\.com$/,
    "GODADDY",
    "GoDaddy",
    "https://dcc.godaddy.com/control/portfolio/{zone}/settings?tab=dns",
    "Name",
  ],
  [
    /\.(?:registrar-servers|namecheaphosting)\.com$/,
    "NAMECHEAP",
    "Namecheap",
    "https://ap.www.namecheap.com/Domains/DomainControlPanel/{zone}/advancedns",
    "Host",
  ],
  [
    /\.(?:squarespacedns|squarespace)\.com$|\.googledomains\.com$/,
    "SQUARESPACE",
    "Squarespace",
    "https://account.squarespace.com/domains/managed/{zone}/dns/dns-settings",
    "Host",
  ],
  [
    /\.ui-dns\.(?:com|org|de|biz)$|\.1and1\.[a-z]+$/,
    "IONOS",
    "IONOS",
    "https://my.ionos.com/domain-dns-settings/{zone}",
    "Host name",
  ],
  [
    /\.(?:ovh\.net|ovh\.ca|anycast\.me)$/,
    "OVHCLOUD",
    "OVHcloud",
    "https://www.ovh.com/manager/#/web/domain/{zone}/zone",
    "Sub-domain",
    "",
  ],
  [/\.gandi\.net$/, "GANDI", "Gandi", "https://admin.gandi.net/domain/{zone}/records", "Name"],
  [
    /\.(?:dns-parking|hostinger)\.com$/,
    "HOSTINGER",
    "Hostinger",
    "https://hpanel.hostinger.com/domain/{zone}/dns",
    "Name",
  ],
  [/\.wixdns\.net$/, "WIX", "Wix", "https://manage.wix.com/account/domains", "Host name", ""],
  [
    /\.awsdns-\d{1,3}\.(?:com|net|org|co\.uk)$/,
    "AWS_ROUTE53",
    "Amazon Route 53",
    "https://console.aws.amazon.com/route53/v2/hostedzones",
    "Record name",
    "",
  ],
  [
    /^ns-cloud-[a-z]\d\.googledomains\.com$/,
    "GOOGLE_CLOUD_DNS",
    "Google Cloud DNS",
    "https://console.cloud.google.com/net-services/dns/zones",
    "DNS name",
    "",
  ],
  [
    /\.digitalocean\.com$/,
    "DIGITALOCEAN",
    "DigitalOcean",
    "https://cloud.digitalocean.com/networking/domains/{zone}",
    "Hostname",
  ],
  [/\.vercel-dns\.com$/, "VERCEL", "Vercel", "https://vercel.com/dashboard/domains/{zone}", "Name", ""],
  [
    /\.porkbun\.com$/,
    "PORKBUN",
    "Porkbun",
    "https://porkbun.com/account/domainsSpeedy?domain={zone}",
    "Host",
    "",
  ],
  [
    /\.name\.com$/,
    "NAME_COM",
    "Name.com",
    "https://www.name.com/account/domain/details/{zone}#dns",
    "Host",
    "",
  ],
  [/\.hover\.com$/, "HOVER", "Hover", "https://www.hover.com/control_panel/domain/{zone}/dns", "Hostname"],
  [
    /\.worldnic\.com$/,
    "NETWORK_SOLUTIONS",
    "Network Solutions",
    "https://www.networksolutions.com/my-account/domain-center",
    "Refers to",
  ],
  [
    /\.bluehost\.com$/,
    "BLUEHOST",
    "Bluehost",
    "https://www.bluehost.com/my-account/domain-center/{zone}/dns",
    "Host record",
  ],
  [/\.nsone\.net$/, "NETLIFY", "Netlify", "https://app.netlify.com/teams/_/dns/{zone}", "Name"],
  [
    /\.azure-dns\.(?:com|net|org|info)$/,
    "AZURE_DNS",
    "Azure DNS",
    "https://portal.azure.com/#browse/Microsoft.Network%2FdnsZones",
    "Name",
  ],
  [
    /\.dynadot\.com$/,
    "DYNADOT",
    "Dynadot",
    "https://www.dynadot.com/account/domain/name/list.html",
    "Subdomain",
    "",
  ],
  [
    /\.dnsowl\.com$/,
    "NAMESILO",
    "NameSilo",
    "https://www.namesilo.com/account_domain_manage_dns.php?domain={zone}",
    "Hostname",
    "",
  ],
];

interface Known {
  readonly pattern: RegExp;
  readonly provider: DnsProvider;
}

const providers = known.map(([pattern, key, name, settings, hostLabel, apex]): Known => {
  const settingsUrl = (zone: string) => settings.replace("{zone}", zone);
  return { pattern, provider: { key, name, settingsUrl, hostLabel, apex: apex ?? "@" } };
});

/** Google's registrar is part of Squarespace now; Google Cloud has name servers of a similar name, which come first. */
const ordered = providers.toSorted(
  (one, other) =>
    Number(other.provider.key === "GOOGLE_CLOUD_DNS") - Number(one.provider.key === "GOOGLE_CLOUD_DNS"),
);

/** Whose the name servers of a zone are. Undefined when nobody's whom we know, or when they are of several. */
export function providerOf(nameservers: readonly string[]): DnsProvider | undefined {
  const found = nameservers.map((server) => ordered.find(({ pattern }) => pattern.test(server))?.provider);
  const [first] = found;
  return first !== undefined && found.every((each) => each === first) ? first : undefined;
}

/** Whether the zone came from Google Domains, whose customers now find their records at Squarespace. */
export function cameFromGoogleDomains(nameservers: readonly string[]): boolean {
  return (
    providerOf(nameservers)?.key === "SQUARESPACE" &&
    nameservers.some((server) => server.endsWith(".googledomains.com"))
  );
}
