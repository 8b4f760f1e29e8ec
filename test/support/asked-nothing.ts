import type { Visit } from "../../src/workflow/visit.ts";

/** What the workflow of a plain redirect asks of a visit: nothing. */
export const askedNothing: Visit = {
  query: "",
  lbid: () => "",
  dataCollection: "ADVANCED",
  visitType: "FIRST",
  country: () => "",
  device: () => {
    throw new Error("nothing asks for the device");
  },
  attributes: undefined,
};
