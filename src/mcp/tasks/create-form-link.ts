import { TasksService } from "../../../gen/signpost/tasks/v1/tasks_service_pb.js";
import type {
  CreateFormLinkRequest,
  FormQuestion,
} from "../../../gen/signpost/tasks/v1/workflow_tasks_pb.js";
import type { Link } from "../../../gen/signpost/v1/link_pb.js";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { PageThemeTemplatesService } from "../../../gen/signpost/v1/page_theme_templates_service_pb.js";
import { PageThemesService } from "../../../gen/signpost/v1/page_themes_service_pb.js";
import type { WorkflowStep } from "../../../gen/signpost/v1/workflow_step_pb.js";
import { WorkflowStepsService } from "../../../gen/signpost/v1/workflow_steps_service_pb.js";
import { fail, invalid } from "../../lib/errors.ts";
import { linkFinding, summariesOf } from "../steps/find-link.ts";
import { codeOf } from "../steps/look.ts";
import { defineTask, read, type Steps, write } from "../steps/task.ts";
import { readWorkflow, workflowLines, workflowOf, workflowReading } from "../steps/workflow-view.ts";
import type { Json } from "../tool.ts";

const types: Readonly<Record<string, string>> = {
  long_text: "FORM_FIELD_TYPE_TEXTAREA",
  email: "FORM_FIELD_TYPE_EMAIL",
  phone: "FORM_FIELD_TYPE_PHONE",
  number: "FORM_FIELD_TYPE_NUMBER",
  date: "FORM_FIELD_TYPE_DATE",
  rating: "FORM_FIELD_TYPE_RATING",
  one_of: "FORM_FIELD_TYPE_RADIO",
  any_of: "FORM_FIELD_TYPE_CHECKBOX",
};

/** Makes a link that asks before it leads on. */
export const createFormLink = defineTask(
  TasksService.method.createFormLink,
  [
    ...linkFinding,
    ...workflowReading,
    LinksService.method.create,
    LinksService.method.createThankYouLink,
    WorkflowStepsService.method.create,
    PageThemeTemplatesService.method.listPageThemeTemplates,
    PageThemesService.method.applyTemplate,
  ],
  function* (request) {
    const form = formOf(request);
    const templateId = request.pageTemplate === "" ? "" : yield* findTemplate(request.pageTemplate);
    const { link, exit } = yield* createLink(request);
    yield* write(
      "put the form before the end",
      WorkflowStepsService.method.create,
      { linkId: link.id, eventAction: "EVENT_ACTION_FORM_SUBMIT", insertBefore: exit.id, payload: { form } },
      () => "the form stands before the end",
    );
    if (templateId !== "")
      yield* write(
        "give the pages the look of the template",
        PageThemesService.method.applyTemplate,
        { linkId: link.id, pageThemeTemplateId: templateId },
        () => "the pages have the look of the template",
      );
    const workflow = yield* readWorkflow(link.id);
    const [summary] = yield* summariesOf([link]);
    const { address, image } = yield* codeOf(link);
    return {
      result: { ...(summary && { link: summary }), workflow: workflowOf(workflow), imageUrl: address },
      text: [
        `${link.entrypoint} shows the form "${request.title}" (link id ${link.id}).`,
        ...workflowLines(workflow),
        address === "" ? "The image is being drawn: get it with check_qr_code." : `Image: ${address}`,
      ],
      images: [image],
    };
  },
);

function* createLink(
  request: CreateFormLinkRequest,
): Steps<{ readonly link: Link; readonly exit: WorkflowStep }> {
  const { title, destination, thankYou, name, shortlink, tags } = request;
  if ((destination === "") === (thankYou === "")) {
    const description = "give either destination or thankYou, and not both";
    throw invalid([{ field: "destination", description }], "ONE_OF_REQUIRED");
  }
  const common = { name: name || title, shortlink, tags, waitForQrcode: true };
  const { link, workflowSteps } = yield* destination === ""
    ? write(
        "create the link",
        LinksService.method.createThankYouLink,
        { ...common, title: thankYou },
        ({ link }) => made(link),
      )
    : write("create the link", LinksService.method.create, { ...common, destination }, ({ link }) =>
        made(link),
      );
  const exit = workflowSteps.at(-1);
  if (link === undefined || exit === undefined) throw new Error("an answer lacks its link");
  return { link, exit };
}

function made(link: Link | undefined): string {
  return `the link ${link?.entrypoint} was made, without its form (id ${link?.id})`;
}

/** The form as its step takes it. Questions without an attribute get one made of their words. */
function formOf({ title, description, questions, maySkip }: CreateFormLinkRequest): Json {
  const faults = questions.flatMap(({ type, choices }, index) => {
    const hasChoices = type === "one_of" || type === "any_of";
    if (hasChoices === choices.length > 0) return [];
    const rule = hasChoices ? "needs choices" : "takes no choices: give it the type one_of or any_of";
    return [{ field: `questions[${index}].choices`, description: rule }];
  });
  if (faults.length > 0) throw invalid(faults);
  const keys = new Set<string>();
  return {
    formTitle: title,
    formDescription: description,
    skipForm: maySkip,
    formFields: questions.map((question) => ({
      key: keyOf(question, keys),
      label: question.label,
      type: types[question.type] ?? "FORM_FIELD_TYPE_TEXT",
      required: question.required,
      options: question.choices.map((choice) => ({ label: choice, value: choice })),
    })),
  };
}

const identities: Readonly<Record<string, string>> = { email: "$email", phone: "$phone" };

/** The attribute of an answer. An e-mail address or phone number that is asked for tells who the visitor is. */
function keyOf({ attribute, label, type }: FormQuestion, taken: Set<string>): string {
  const words = label
    .toLowerCase()
    .replace(/[^\p{L}\p{Nd}]+/gu, "_")
    .replace(/^_|_$/g, "")
    .slice(0, 60);
  const wished = attribute || identities[type] || words || "answer";
  let key = wished;
  for (let number = 2; taken.has(key); number++) key = `${wished.replace(/^\$/, "")}_${number}`;
  taken.add(key);
  return key;
}

function* findTemplate(given: string): Steps<string> {
  const { pageThemeTemplates } = yield* read(
    "look for the page template",
    PageThemeTemplatesService.method.listPageThemeTemplates,
    { scope: "PAGE_THEME_TEMPLATE_SCOPE_AVAILABLE", pageSize: 1_000 },
  );
  const text = given.toLowerCase();
  const found = pageThemeTemplates.find(
    ({ id, slug, name }) => id === text || slug === text || name.toLowerCase() === text,
  );
  if (found !== undefined) return found.id;
  const names = pageThemeTemplates.slice(0, 10).map(({ name }) => `"${name}"`);
  throw fail(
    "NOT_FOUND",
    "NOT_FOUND",
    `no page template is called "${given}"; there are: ${names.join(", ")}`,
  );
}
