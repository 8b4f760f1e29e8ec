// The library's decorators ask for it, and it has to be there before them.
import "reflect-metadata";
import { createHash, type webcrypto } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  Extension,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { keyAlgorithm, newKeyPair, pemOf } from "./keys.ts";

// Only this file imports the library, which is loaded with the first order.

/** A request for a certificate of one name, in DER. It has no common name: short-lived certificates must not have one. */
export async function certificateRequest(name: string, keys: webcrypto.CryptoKeyPair): Promise<Buffer> {
  const request = await Pkcs10CertificateRequestGenerator.create({
    keys,
    signingAlgorithm: keyAlgorithm,
    extensions: [new SubjectAlternativeNameExtension([{ type: "dns", value: name }])],
  });
  return Buffer.from(request.rawData);
}

/** The extension of a certificate that answers a challenge (RFC 8737, 3). */
const acmeIdentifier = "1.3.6.1.5.5.7.1.31";
const octetString = Buffer.from([4, 32]);
const dayMs = 24 * 60 * 60 * 1000;

/** A certificate that nobody trusts, and which tells the authority that this service has its challenge. */
export async function challengeCertificate(
  name: string,
  authorization: string,
  at: Date,
): Promise<{ readonly chain: string; readonly privateKey: string }> {
  const keys = await newKeyPair();
  const digest = createHash("sha256").update(authorization).digest();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=ACME challenge",
    keys,
    signingAlgorithm: keyAlgorithm,
    notBefore: new Date(at.getTime() - dayMs),
    notAfter: new Date(at.getTime() + 7 * dayMs),
    extensions: [
      new SubjectAlternativeNameExtension([{ type: "dns", value: name }]),
      new Extension(acmeIdentifier, true, Buffer.concat([octetString, digest])),
    ],
  });
  return { chain: certificate.toString("pem"), privateKey: await pemOf(keys.privateKey) };
}

/** The name of a certificate where its authority is asked about its renewal (RFC 9773, 4.1); empty when it has none. */
export function renewalIdOf(chain: string): string {
  const certificate = new X509Certificate(chain);
  const issuer = certificate.getExtension(AuthorityKeyIdentifierExtension)?.keyId;
  if (issuer === undefined) return "";
  const serial = Buffer.from(certificate.serialNumber, "hex");
  // As it stands in the certificate: a number that is not negative.
  const number = (serial[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), serial]) : serial;
  return `${Buffer.from(issuer, "hex").toString("base64url")}.${number.toString("base64url")}`;
}
