import { beforeEach, expect, test } from "vitest";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await api.newWorkspace();
});

async function create(kind: "contact" | "thank-you", body: object) {
  return workspace.rest("POST", `/v1/links/${kind}`, body);
}

const person = { firstName: "Ada", lastName: "Lovelace" };

test("a contact link has an entry step that is connected to the card", async () => {
  const socialLinks = [
    { url: "https://github.com/ada" },
    { url: "https://calendly.com/ada" },
    { url: "https://ada.example" },
    { url: "https://ada.example/music", platform: "Spotify" },
  ];
  const vcardData = { ...person, email: "ada@example.com", phone: "+442079460000", socialLinks };
  const { status, json } = await create("contact", {
    vcardData,
    shortlink: "ada",
    purpose: "fair",
    tags: ["vip"],
  });
  expect(status).toBe(200);
  const { link, workflowSteps } = json;
  const [entry, card] = workflowSteps;
  expect(link).toMatchObject({
    name: "Ada Lovelace",
    shortlink: "ada",
    purpose: "fair",
    directoryId: "",
    tags: [{ name: "vip" }],
  });
  expect(entry).toMatchObject({
    eventAction: "EVENT_ACTION_LINK_VISIT",
    branches: [{ branchId: "next", nextStepId: card.id }],
  });
  expect(card).toMatchObject({
    eventAction: "EVENT_ACTION_CONTACT_CARD",
    kind: "KIND_EXIT",
    nodeType: "NODE_TYPE_ATOMIC",
    branches: [],
    parentStepIds: [entry.id],
    canvasPosition: { x: 320, y: 0 },
    payload: {
      vcard: {
        ...person,
        email: "ada@example.com",
        phone: "+442079460000",
        socialLinks: [
          { platform: "github" },
          { platform: "calendly" },
          { platform: "website" },
          { platform: "spotify" },
        ],
      },
    },
  });
  expect(await storedSteps(link.id)).toEqual(workflowSteps);
});

test("a thank-you link has an entry step that is connected to the page", async () => {
  const { status, json } = await create("thank-you", { title: "Thank you", description: "See you soon" });
  expect(status).toBe(200);
  const { link, workflowSteps } = json;
  expect(link).toMatchObject({ name: "Thank you", fallbackDestination: "" });
  expect(workflowSteps[1]).toMatchObject({
    eventAction: "EVENT_ACTION_THANK_YOU_PAGE",
    payload: { thankYouPage: { title: "Thank you", description: "See you soon" } },
    parentStepIds: [workflowSteps[0].id],
  });
  expect(await storedSteps(link.id)).toEqual(workflowSteps);
});

async function storedSteps(link: string) {
  return (await workspace.rest("GET", `/v1/links/${link}/workflow-steps`)).json.workflowSteps;
}

test("gRPC makes them too", async () => {
  const links = workspace.client(LinksService);
  const contact = await links.createContactLink({ vcardData: person, name: "Card" });
  expect(contact.link?.name).toBe("Card");
  expect(contact.workflowSteps[1]?.payload?.variant.case).toBe("vcard");
  const thanks = await links.createThankYouLink({ title: "Bye" });
  expect(thanks.workflowSteps[1]?.payload?.variant).toMatchObject({ value: { title: "Bye" } });
});

test("a long name is cut to 255 characters", async () => {
  const long = "x".repeat(255);
  const { json } = await create("contact", { vcardData: { firstName: long, lastName: long } });
  expect(json.link.name).toBe(long);
});

test.each([
  ["contact", {}, "INVALID_ARGUMENT", "vcardData"],
  ["contact", { vcardData: { firstName: "Ada" } }, "INVALID_ARGUMENT", "vcardData.lastName"],
  ["contact", { vcardData: { lastName: "Lovelace" } }, "INVALID_ARGUMENT", "vcardData.firstName"],
  ["contact", { vcardData: { ...person, phone: "07" } }, "INVALID_ARGUMENT", "vcardData.phone"],
  ["contact", { vcardData: { ...person, website: "ada" } }, "INVALID_DESTINATION", "vcardData.website"],
  [
    "contact",
    { vcardData: { ...person, socialLinks: [{ url: "javascript:x()" }] } },
    "INVALID_DESTINATION",
    "vcardData.socialLinks[0].url",
  ],
  [
    "contact",
    { vcardData: { ...person, socialLinks: [{ url: "https://a.example", platform: "myspace" }] } },
    "INVALID_ARGUMENT",
    "vcardData.socialLinks[0].platform",
  ],
  ["contact", { vcardData: person, fallbackDestination: "x" }, "INVALID_DESTINATION", "fallbackDestination"],
  ["contact", { vcardData: person, shortlink: "-" }, "INVALID_SHORTLINK", "shortlink"],
  ["thank-you", {}, "INVALID_ARGUMENT", "title"],
  ["thank-you", { title: " " }, "INVALID_ARGUMENT", "title"],
] as const)("a %s link of %j is refused with %s", async (kind, body, codeType, field) => {
  const { status, json } = await create(kind, body);
  expect([status, json.error.codeType]).toEqual([400, codeType]);
  expect(json.error.message).toContain(`${field}:`);
});

test("a contact link refuses hosts of the block list in its card", async () => {
  const values = { host: "evil.example", reason: "malware", created_at: api.now() };
  await api.db.insertInto("blocked_hosts").values(values).execute();
  for (const more of [
    { website: "https://evil.example" },
    { socialLinks: [{ url: "https://a.evil.example" }] },
  ]) {
    const { json } = await create("contact", { vcardData: { ...person, ...more }, shortlink: "never-made" });
    expect(json.error.codeType).toBe("MALICIOUS_URL");
  }
  expect((await create("thank-you", { title: "Bye", shortlink: "never-made" })).status).toBe(200);
});
