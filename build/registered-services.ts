import { createServices } from "../src/api/services.ts";

/** Every service with its handlers. None of them may be called: what handlers are given is missing. */
export function registeredServices(): ReturnType<typeof createServices> {
  const nothing = new Proxy({}, { get: () => () => undefined });
  return createServices(nothing as Parameters<typeof createServices>[0]);
}
