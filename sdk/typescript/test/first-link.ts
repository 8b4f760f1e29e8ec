/** The example of the READMEs, on the service at SIGNPOST_URL, with SIGNPOST_TOKEN. It leaves no link behind. */
import assert from "node:assert/strict";
import { createClient, items, SignpostError } from "signpost-client";

const { SIGNPOST_URL: url, SIGNPOST_TOKEN: token } = process.env;
assert(url && token, "SIGNPOST_URL and SIGNPOST_TOKEN name the service and a token");

const client = createClient(url, token);
const { link } = await client.links.create({ destination: "https://example.com/menu", name: "Menu" });

for await (const each of items(client.links.list, { search: "menu" }, (page) => page.links))
  console.log(each.entrypoint);

assert(link);
const request = { destination: "https://example.com/menu", shortlink: link.shortlink };
let isTaken = false;
const chooseAnother = () => {
  isTaken = true;
};
try {
  await client.links.create(request);
} catch (error) {
  if (error instanceof SignpostError && error.reason === "SHORTLINK_TAKEN") chooseAnother();
  else throw error;
}
assert(isTaken);
await client.links.delete({ id: link.id });
