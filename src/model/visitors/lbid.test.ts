import { expect, test } from "vitest";
import { eventOfLbid, lbidOfEvent } from "./lbid.ts";

const eventId = "01991f3e-7c00-7fff-bfff-0123456789ab";
const bytes = Buffer.from(eventId.replaceAll("-", ""), "hex");

test("an lbid is the base64url of the event's 16 bytes, without padding", () => {
  expect(lbidOfEvent(eventId)).toBe(bytes.toString("base64url"));
  expect(lbidOfEvent(eventId)).toHaveLength(22);
});

test.each([
  ["base64url", bytes.toString("base64url")],
  ["base64url with padding", `${bytes.toString("base64url")}==`],
  ["standard base64", bytes.toString("base64")],
  ["standard base64 without padding", bytes.toString("base64").replaceAll("=", "")],
  ["base64 of the text", Buffer.from(eventId).toString("base64")],
  ["base64url of the text in capitals", Buffer.from(eventId.toUpperCase()).toString("base64url")],
])("is read back from %s", (_, lbid) => {
  expect(eventOfLbid(lbid)).toBe(eventId);
});

test.each([
  "",
  "x",
  "A".repeat(21),
  "A".repeat(23),
  "A".repeat(48),
  "A".repeat(64),
  "%%%",
  eventId,
  "é".repeat(22),
])("%j is none", (lbid) => {
  expect(eventOfLbid(lbid)).toBeUndefined();
});
