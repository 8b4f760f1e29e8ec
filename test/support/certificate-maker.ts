import "reflect-metadata";
import type { webcrypto } from "node:crypto";
import {
  BasicConstraintsExtension,
  type Extension,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { keyAlgorithm, newKeyPair, pemOf } from "../../src/certificates/acme/keys.ts";

/** An authority of a test, which signs whatever it is told. */
export interface CertificateMaker {
  /** Its own certificate in PEM. */
  readonly root: string;
  /** Signs a certificate for names or addresses, valid from now for days, with a new key. */
  sign(names: readonly string[], life?: Life): Promise<{ readonly cert: string; readonly key: string }>;
  /** Signs a public key. */
  signKey(publicKey: webcrypto.CryptoKey, names: readonly string[], life?: Life): Promise<X509Certificate>;
}

export interface Life {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

const dayMs = 24 * 60 * 60 * 1000;

export async function createCertificateMaker(): Promise<CertificateMaker> {
  const keys = await newKeyPair();
  const life = () => ({
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + 90 * dayMs),
  });
  const root = await X509CertificateGenerator.createSelfSigned({
    name: "CN=Authority of a test",
    keys,
    signingAlgorithm: keyAlgorithm,
    notBefore: new Date(0),
    notAfter: new Date("2099-01-01T00:00:00Z"),
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  const signKey: CertificateMaker["signKey"] = (publicKey, names, { notBefore, notAfter } = life()) => {
    const alternatives = names.map(
      (value) => ({ type: /^[\d.]+$/.test(value) ? "ip" : "dns", value }) as const,
    );
    const extensions: Extension[] = [new SubjectAlternativeNameExtension(alternatives)];
    return X509CertificateGenerator.create({
      issuer: root.subject,
      subject: "",
      publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: keyAlgorithm,
      notBefore,
      notAfter,
      extensions,
    });
  };
  return {
    root: root.toString("pem"),
    signKey,
    async sign(names, lives) {
      const own = await newKeyPair();
      const certificate = await signKey(own.publicKey, names, lives);
      return { cert: certificate.toString("pem"), key: await pemOf(own.privateKey) };
    },
  };
}
