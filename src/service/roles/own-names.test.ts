import { expect, test } from "vitest";
import { ownNames } from "./certificates.ts";

test("every https host of the service has a certificate, that of the tools for models too", () => {
  const addresses = {
    baseUrl: "https://api.example.com",
    shortUrl: "https://short.example",
    authUrl: "https://api.example.com/sign-in",
    mcpUrl: "https://mcp.example.com",
  };
  expect(ownNames(addresses)).toEqual(["api.example.com", "short.example", "mcp.example.com"]);
  expect(ownNames({ ...addresses, mcpUrl: "http://localhost:8080/mcp" })).not.toContain("localhost");
});
