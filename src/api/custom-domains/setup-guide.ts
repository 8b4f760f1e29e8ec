import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type CustomDomainSetupGuideSchema,
  CustomDomainSetupHint,
  DnsProvider,
  DnsRecordPurpose,
  DnsRecordType,
} from "../../../gen/signpost/v1/custom_domain_setup_guide_pb.js";
import {
  CustomDomainValidation_Purpose,
  CustomDomainValidation_Type,
  type CustomDomainValidationSchema,
} from "../../../gen/signpost/v1/custom_domain_validation_pb.js";
import type { Domains, Surroundings } from "../../domains/domains.ts";
import { judge } from "../../domains/judge.ts";
import { ownershipRecord } from "../../domains/ownership.ts";
import { cameFromGoogleDomains, type DnsProvider as Provider, providerOf } from "../../domains/providers.ts";
import type { DomainRow } from "./queries.ts";

/** The records that the owner of a domain sets. */
export function toValidations(
  { workspace_id, name }: DomainRow,
  { target, tokenOf }: Pick<Domains, "target" | "tokenOf">,
): MessageInitShape<typeof CustomDomainValidationSchema>[] {
  return [
    {
      purpose: CustomDomainValidation_Purpose.OWNERSHIP,
      type: CustomDomainValidation_Type.TXT,
      name: ownershipRecord(name),
      value: tokenOf({ workspaceId: workspace_id, name }),
    },
    {
      purpose: CustomDomainValidation_Purpose.DOMAIN_VERIFICATION,
      type: CustomDomainValidation_Type.CNAME,
      name,
      value: target,
    },
  ];
}

/** The steps that the owner takes at the provider of the zone. */
export function toSetupGuide(
  { workspace_id, id, name }: DomainRow,
  { zone, sightings }: Surroundings,
  { target, tokenOf }: Pick<Domains, "target" | "tokenOf">,
): MessageInitShape<typeof CustomDomainSetupGuideSchema> {
  const nameservers = zone?.nameservers ?? [];
  const provider = providerOf(nameservers);
  const token = tokenOf({ workspaceId: workspace_id, name });
  const found = judge(sightings, { name, target, token, needsProof: true, caaIdentities: [] });
  const hostOf = (record: string) => hostWithin(record, zone?.name, provider);
  return {
    customDomainId: id,
    domain: name,
    zone: zone?.name ?? "",
    host: hostOf(name),
    nameservers: [...nameservers],
    dnsProvider: provider === undefined ? DnsProvider.UNKNOWN : numberOf(provider),
    dnsProviderName: provider?.name ?? "",
    dnsSettingsUrl: zone === undefined ? "" : (provider?.settingsUrl(zone.name) ?? ""),
    hostFieldLabel: provider?.hostLabel ?? "",
    hints: hintsOf(name, zone?.name, nameservers, provider),
    records: [
      {
        purpose: DnsRecordPurpose.ROUTING,
        type: DnsRecordType.CNAME,
        name,
        host: hostOf(name),
        value: target,
        required: true,
        detected: found.pointsHere === true,
      },
      {
        purpose: DnsRecordPurpose.OWNERSHIP,
        type: DnsRecordType.TXT,
        name: ownershipRecord(name),
        host: hostOf(ownershipRecord(name)),
        value: token,
        required: true,
        detected: found.isOwned === true,
      },
    ],
  };
}

function numberOf({ key }: Provider): DnsProvider {
  // The table has the names of the enum, which a test proves.
  return DnsProvider[key as keyof typeof DnsProvider];
}

/** A record's name as it is typed within the zone. Without a zone it is the whole name. */
function hostWithin(record: string, zone: string | undefined, provider: Provider | undefined): string {
  if (zone === undefined) return record;
  if (record === zone) return provider?.apex ?? "@";
  return record.slice(0, -zone.length - 1);
}

function hintsOf(
  name: string,
  zone: string | undefined,
  nameservers: readonly string[],
  provider: Provider | undefined,
): CustomDomainSetupHint[] {
  if (zone === undefined) return [CustomDomainSetupHint.NAMESERVERS_NOT_FOUND];
  return [
    ...(provider?.key === "CLOUDFLARE" ? [CustomDomainSetupHint.CLOUDFLARE_DNS_ONLY] : []),
    ...(name === zone ? [CustomDomainSetupHint.APEX_DOMAIN] : []),
    ...(cameFromGoogleDomains(nameservers) ? [CustomDomainSetupHint.GOOGLE_DOMAINS_MOVED] : []),
  ];
}
