import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { AnalyticsDashboardService } from "../../gen/signpost/v1/analytics_dashboard_service_pb.js";
import { PageThemeTemplatesService } from "../../gen/signpost/v1/page_theme_templates_service_pb.js";
import { PageThemesService } from "../../gen/signpost/v1/page_themes_service_pb.js";
import { QrcodeDesignService } from "../../gen/signpost/v1/qrcode_design_service_pb.js";
import { WorkflowStepsService } from "../../gen/signpost/v1/workflow_steps_service_pb.js";
import { ask } from "../support/ask.ts";
import { startApi, type TestWorkspace } from "../support/start-api.ts";
import { makers } from "../support/tenant-records.ts";
import { operationsOf } from "./operations.ts";

const api = await startApi();

let workspace: TestWorkspace;
let linkId: string;
let designId: string;
let redirectId: string;
let dashboardId: string;
let themeId: string;
let templateId: string;

beforeAll(async () => {
  workspace = await api.newWorkspace();
  const { json } = await workspace.rest("POST", "/v1/links", { destination: "https://example.com/old" });
  linkId = json.link.id;
  designId = json.link.qrcodeDesignId;
  redirectId = json.workflowSteps[1].id;
  dashboardId = (await workspace.rest("POST", "/v1/analytics/dashboards", {})).json.dashboard.id;
  themeId = await makers.pageTheme(api, workspace);
  templateId = await makers.pageThemeTemplate(api, workspace);
});

async function addStep(action: string, payload: JsonObject, more: JsonObject = {}): Promise<string> {
  const body = { eventAction: `EVENT_ACTION_${action}`, payload, ...more };
  const { status, json } = await workspace.rest("POST", `/v1/links/${linkId}/workflow-steps`, body);
  expect(status, JSON.stringify(json)).toBe(200);
  return json.workflowStep.id;
}

async function readStep(id: string) {
  return (await workspace.rest("GET", `/v1/links/${linkId}/workflow-steps/${id}`)).json.workflowStep;
}

/** An update of a field that can be named in part, after which exactly that part is another one. */
interface Change {
  /** What the field is made of before. */
  readonly before: JsonObject;
  /** As it is sent, with more than what the mask names. */
  readonly sent: JsonObject;
  readonly mask: string;
  readonly after: JsonObject;
}

const color = (hex: string) => ({ type: "THEME_COLOR_TYPE_SOLID", colors: [hex] });

/** Changes of the look of a theme, or of a template's. */
function lookChanges(update: string): Readonly<Record<string, Change>> {
  return {
    ...Object.fromEntries(
      ["title", "body", "element"].map((part): [string, Change] => [
        `${update} ${part}_font`,
        {
          before: { fontSize: 20, italic: true, color: color("#000080") },
          sent: { fontSize: 30, color: color("#800000") },
          mask: `${part}Font.color`,
          after: { fontSize: 20, italic: true, color: color("#800000") },
        },
      ]),
    ),
    ...Object.fromEntries(
      ["canvas", "badge_icon", "element"].map((part): [string, Change] => [
        `${update} ${part}_color`,
        {
          before: color("#ffffff"),
          sent: { colors: ["#ffff00"], stops: ["50%"] },
          mask: `${part.replace("_i", "I")}Color.colors`,
          after: color("#ffff00"),
        },
      ]),
    ),
    [`${update} container_config`]: {
      before: {
        variant: "PAGE_THEME_CONTAINER_VARIANT_SQUARE",
        opacity: 50,
        backgroundColor: color("#ffffff"),
      },
      sent: { opacity: 70, borderSize: -1 },
      mask: "containerConfig.opacity",
      after: {
        variant: "PAGE_THEME_CONTAINER_VARIANT_SQUARE",
        opacity: 70,
        backgroundColor: color("#ffffff"),
      },
    },
  };
}

const changes: Readonly<Record<string, Change>> = {
  "AnalyticsDashboardService.UpdateDashboard config": {
    before: { gridColumns: 8, widgets: [{ id: "one", title: "Stays" }] },
    sent: { gridColumns: 4, widgets: [{ id: "two" }] },
    mask: "config.gridColumns",
    after: { gridColumns: 4, widgets: [{ id: "one", title: "Stays" }] },
  },
  "WorkflowStepsService.Update payload": {
    before: { messagePage: { title: "Old", description: "Stays", navigationType: navigation("BUTTON") } },
    sent: { messagePage: { title: "New", description: "x".repeat(3000), timerSeconds: 1000 } },
    mask: "payload.messagePage.title",
    after: { messagePage: { title: "New", description: "Stays", navigationType: navigation("BUTTON") } },
  },
  "WorkflowStepsService.Update attribute_capture": {
    before: { enabled: true, writes: [{ key: "seen", value: "{{now}}" }] },
    sent: { enabled: false, writes: [{ key: "$bad", value: "" }] },
    mask: "attributeCapture.enabled",
    after: { writes: [{ key: "seen", value: "{{now}}" }] },
  },
  "WorkflowStepsService.Update canvas_position": {
    before: { x: 100, y: 200 },
    sent: { x: 300, y: 400 },
    mask: "canvasPosition.y",
    after: { x: 100, y: 400 },
  },
  ...Object.fromEntries(
    ["dots", "corners_square", "corners_dot"].map((part): [string, Change] => {
      const type = `${part.toUpperCase()}_TYPE_`;
      const name = `${part.replace(/_(.)/, (_, letter: string) => letter.toUpperCase())}Options`;
      return [
        `QrcodeDesignService.Update ${part}_options`,
        {
          before: { type: `${type}SQUARE`, themeColor: color("#000080") },
          sent: { type: `${type}${part === "dots" ? "DOTS" : "DOT"}`, themeColor: color("#800000") },
          mask: `${name}.type`,
          after: { type: `${type}${part === "dots" ? "DOTS" : "DOT"}`, themeColor: color("#000080") },
        },
      ];
    }),
  ),
  "QrcodeDesignService.Update background_options": {
    before: { themeColor: color("#ffffff") },
    sent: { themeColor: { colors: ["#ffff00"], stops: ["50%"] } },
    mask: "backgroundOptions.themeColor.colors",
    after: { themeColor: color("#ffff00") },
  },
  ...lookChanges("PageThemesService.UpdatePageTheme"),
  ...lookChanges("PageThemeTemplatesService.UpdatePageThemeTemplateStyling"),
};

/** Media files of a theme: an update names one or takes it away, and the theme shows an id. Tried beside the service. */
const chosen = [
  "PageThemesService.UpdatePageTheme",
  "PageThemeTemplatesService.UpdatePageThemeTemplateStyling",
].flatMap((update) => ["canvas_cover", "badge"].map((name) => `${update} ${name}`));

function lookMethodOf(target: string) {
  return target.startsWith("PageThemesService")
    ? PageThemesService.method.updatePageTheme
    : PageThemeTemplatesService.method.updatePageThemeTemplateStyling;
}

function navigation(name: string): string {
  return `MESSAGE_PAGE_NAVIGATION_TYPE_${name}`;
}

test("every field of an update that can be named in part is among those tried here", () => {
  const divisible = operationsOf(api.services)
    .filter(({ method }) => method.input.field.updateMask !== undefined)
    .flatMap(({ method }) =>
      method.input.fields
        .filter(({ fieldKind }) => fieldKind === "message")
        .filter(({ message }) => !message?.typeName.startsWith("google.protobuf."))
        .map(({ name }) => `${method.parent.name}.${method.name} ${name}`),
    );
  expect(new Set([...Object.keys(changes), ...chosen])).toEqual(new Set(divisible));
});

describe.each(["rest", "grpc"] as const)("over %s", (protocol) => {
  const update = (target: string, request: JsonObject) =>
    target.startsWith("Qrcode")
      ? ask(api, protocol, QrcodeDesignService.method.update, { id: designId, ...request }, workspace.token)
      : target.startsWith("AnalyticsDashboard")
        ? ask(api, protocol, AnalyticsDashboardService.method.updateDashboard, request, workspace.token)
        : target.startsWith("PageTheme")
          ? ask(api, protocol, lookMethodOf(target), request, workspace.token)
          : ask(api, protocol, WorkflowStepsService.method.update, { linkId, ...request }, workspace.token);
  const updateStep = (id: string, request: JsonObject) => update("WorkflowStepsService", { id, ...request });

  test.each(Object.keys(changes))(
    "%s: the part that the mask names changes, and no other",
    async (target) => {
      const { before, sent, mask, after } = changes[target] as Change;
      const name = mask.slice(0, mask.indexOf("."));
      const isStep = target.startsWith("Workflow");
      const payload = { messagePage: { title: "A page", navigationType: navigation("BUTTON") } };
      const isDashboard = target.startsWith("AnalyticsDashboard");
      const isTheme = target.startsWith("PageThemesService");
      const isTemplate = target.startsWith("PageThemeTemplates");
      const others = isDashboard ? dashboardId : isTheme ? themeId : isTemplate ? templateId : designId;
      const id = isStep ? await addStep("MESSAGE_PAGE", payload) : others;
      const read = async () => {
        if (isStep) return readStep(id);
        if (isDashboard) return (await workspace.rest("GET", "/v1/analytics/dashboards")).json.dashboards[0];
        if (isTemplate)
          return (await workspace.rest("GET", `/v1/page-theme-templates/${id}?include=pageTheme`)).json
            .pageTheme;
        if (isTheme) return (await workspace.rest("GET", `/v1/page-themes/${id}`)).json.pageTheme;
        return (await workspace.rest("GET", `/v1/qrcode-designs/${id}`)).json.qrcodeDesign;
      };
      expect(await update(target, { id, [name]: before })).toMatchObject({ reason: "OK" });
      const whole = await read();
      expect(await update(target, { id, [name]: sent, updateMask: mask })).toMatchObject({ reason: "OK" });
      expect(await read()).toMatchObject({ ...whole, [name]: after, updatedAt: expect.any(String) });
    },
  );

  test("what the mask names and the request leaves out is emptied", async () => {
    const id = await addStep("FORM_SUBMIT", { form: { formTitle: "Old", formDescription: "Stays" } });
    for (const request of [{ payload: { form: {} } }, {}]) {
      const mask = { updateMask: "payload.form.formTitle,payload.form.submitButtonText" };
      expect(await updateStep(id, { ...request, ...mask })).toMatchObject({ reason: "OK" });
      const { form } = (await readStep(id)).payload;
      expect(form).toMatchObject({ formTitle: "", formDescription: "Stays" });
    }
  });

  test("a list is replaced whole, and what else the payload holds stays: branches lead where they did", async () => {
    const buttons = [{ id: "a", label: "A", nextStepId: redirectId }];
    const id = await addStep("MULTI_LINK", { multiLink: { title: "Old", buttons } });
    const titled = { payload: { multiLink: { title: "New" } }, updateMask: "payload.multiLink.title" };
    expect(await updateStep(id, titled)).toMatchObject({ reason: "OK" });
    expect((await readStep(id)).payload.multiLink).toMatchObject({ title: "New", buttons });
    const listed = {
      payload: { multiLink: { buttons: [{ id: "b" }] } },
      updateMask: "payload.multiLink.buttons",
    };
    expect(await updateStep(id, listed)).toMatchObject({ reason: "OK" });
    const { multiLink } = (await readStep(id)).payload;
    expect(multiLink).toMatchObject({ title: "New", buttons: [{ id: "b", label: "", nextStepId: "" }] });
  });

  test("a password stays when another part of its step changes", async () => {
    const id = await addStep("PASSWORD_VERIFY", { password: { title: "Old", password: " sécret " } });
    const mask = "payload.password.title";
    expect(await updateStep(id, { payload: { password: { title: "New" } }, updateMask: mask })).toMatchObject(
      {
        reason: "OK",
      },
    );
    expect((await readStep(id)).payload.password).toMatchObject({ title: "New", password: " sécret " });
  });

  test("rules hold for what the field would become, whatever the request itself lacks", async () => {
    const page = { title: "Stays", navigationType: navigation("BUTTON") };
    const id = await addStep("MESSAGE_PAGE", { messagePage: page });
    const timed = { payload: { messagePage: { navigationType: navigation("TIMER"), timerSeconds: 9 } } };
    const refused = await updateStep(id, { ...timed, updateMask: "payload.messagePage.navigationType" });
    expect(refused.message).toBe("payload.messagePage: a page that moves on by timer needs 1 to 300 seconds");
    const cleared = await updateStep(id, { updateMask: "payload.messagePage.title" });
    expect(cleared.message).toBe("payload.messagePage.title: is required: give it a value");
    expect((await readStep(id)).payload.messagePage).toMatchObject(page);
    const mask = "payload.messagePage.navigationType,payload.messagePage.timerSeconds";
    expect(await updateStep(id, { ...timed, updateMask: mask })).toMatchObject({ reason: "OK" });
  });

  test("addresses in a part are screened like those of a whole field", async () => {
    const payload = { clientRedirect: { destination: "javascript:alert(1)" } };
    const mask = "payload.clientRedirect.destination";
    const refused = await updateStep(redirectId, { payload, updateMask: mask });
    expect(refused.message).toContain("payload.clientRedirect.destination");
    const good = {
      payload: { clientRedirect: { destination: "https://example.com/new" } },
      updateMask: mask,
    };
    expect(await updateStep(redirectId, good)).toMatchObject({ reason: "OK" });
  });

  test("a part of another variant is refused like the variant", async () => {
    const asked = { payload: { form: { formTitle: "x" } }, updateMask: "payload.form.formTitle" };
    const { reason, message } = await updateStep(redirectId, asked);
    expect([reason, message]).toEqual([
      "INVALID_ARGUMENT",
      "payload.form: is not for EVENT_ACTION_CLIENT_REDIRECT: give clientRedirect",
    ]);
  });

  test("a field named whole is replaced whole, also beside a part of it and for `*`", async () => {
    const payload = { form: { formTitle: "New" } };
    const canvasPosition = { x: 1, y: 2 };
    for (const updateMask of ["payload,payload.form.formDescription", "*,payload.form.formDescription"]) {
      const id = await addStep("FORM_SUBMIT", { form: { formTitle: "Old", formDescription: "Goes" } });
      expect(await updateStep(id, { payload, canvasPosition, updateMask })).toMatchObject({ reason: "OK" });
      expect((await readStep(id)).payload.form).toMatchObject({ formTitle: "New", formDescription: "" });
    }
  });

  test.each([
    ["payload.form.formFields.label", "payload.form.form_fields.label, a part of payload.form.form_fields"],
    ["attributeCapture.writes.0", "attribute_capture.writes.0, a part of attribute_capture.writes"],
    ["canvasPosition.x.y", "canvas_position.x.y, a part of canvas_position.x"],
  ])("%s is refused with what to name instead", async (updateMask, named) => {
    const { reason, message } = await updateStep(redirectId, { updateMask });
    const whole = named.slice(named.lastIndexOf(" ") + 1);
    expect([reason, message]).toEqual([
      "INVALID_ARGUMENT",
      `updateMask: names ${named}: name ${whole} and send it whole`,
    ]);
  });

  test.each(["payload.form.nothing", "payload.variant", "branches", "branches.label", "createdAt"])(
    "%s, which is no field that an update has, is refused by its name",
    async (updateMask) => {
      const { reason, message } = await updateStep(redirectId, { updateMask });
      const path = updateMask.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      expect([reason, message]).toEqual([
        "INVALID_ARGUMENT",
        `updateMask: names ${path}, which no update changes`,
      ]);
    },
  );

  test("every bad path is told, beside what else is wrong", async () => {
    const asked = { canvasPosition: { x: "NaN" }, updateMask: "branches,payload.nothing,canvasPosition" };
    const { message } = await updateStep(redirectId, asked);
    expect(message).toBe("updateMask: names branches, which no update changes (and 2 more)");
  });
});

test("two parts that are changed at once both change", async () => {
  const id = await addStep("FORM_SUBMIT", { form: {} });
  const steps = workspace.client(WorkflowStepsService);
  const texts = ["formTitle", "formDescription", "submitButtonText", "skipButtonText"] as const;
  const names = ["form_title", "form_description", "submit_button_text", "skip_button_text"];
  await Promise.all(
    texts.map((name, index) =>
      steps.update({
        linkId,
        id,
        payload: { variant: { case: "form", value: { [name]: name } } },
        updateMask: { paths: [`payload.form.${names[index]}`] },
      }),
    ),
  );
  const { form } = (await readStep(id)).payload;
  expect(form).toMatchObject(Object.fromEntries(texts.map((name) => [name, name])));
});
