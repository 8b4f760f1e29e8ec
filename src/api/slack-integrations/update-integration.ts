import { isDeepStrictEqual } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { SlackIntegrationStatus } from "../../../gen/signpost/v1/slack_integration_pb.js";
import type {
  UpdateSlackIntegrationRequest,
  UpdateSlackIntegrationResponseSchema,
} from "../../../gen/signpost/v1/slack_integrations_service_pb.js";
import { WorkflowStep_Kind } from "../../../gen/signpost/v1/workflow_step_pb.js";
import { inTransaction } from "../../db/open.ts";
import { type Fault, invalidArgument } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { changeSubscriber } from "../../outbox/subscribers.ts";
import { type Context, callerOf, type Write } from "../../rpc/handlers.ts";
import { notFound } from "../resources/not-found.ts";
import { answered, findConnection, notActive, notConnected } from "./connection.ts";
import type { SlackDeps } from "./deps.ts";
import { toSlackIntegration } from "./message.ts";
import { findIntegration, hasLink, type IntegrationRow } from "./queries.ts";
import { channelNotJoined, channelRequired } from "./rules.ts";
import { updateIntegration } from "./writes.ts";

/** What a caller may change, under the names of the row. */
interface Settings {
  readonly is_paused: boolean;
  readonly channel_id: string;
  readonly channel_name: string;
  readonly link_id: string | null;
  readonly triggers: readonly string[];
}

/** What is wrong with a request besides the rules of its fields. */
export function updateFaults(request: UpdateSlackIntegrationRequest): Fault[] {
  const description = "must be SLACK_INTEGRATION_STATUS_ACTIVE or SLACK_INTEGRATION_STATUS_PAUSED";
  const isUnspecified = request.status === SlackIntegrationStatus.UNSPECIFIED;
  return fieldsOf(request).has("status") && isUnspecified ? [invalidArgument("status", description)] : [];
}

/** Asks Slack about a channel that the request names. The part that is left changes the integration. */
export async function prepareUpdate(
  deps: Pick<SlackDeps, "now" | "slack" | "tokenBox">,
  request: UpdateSlackIntegrationRequest,
  context: Context,
): Promise<Write<MessageInitShape<typeof UpdateSlackIntegrationResponseSchema>>> {
  const { workspaceId } = callerOf(context);
  const given = fieldsOf(request);
  const { row, botToken } = await findConnection(deps, context);
  checkConnected(row, given);
  const { slackChannelId: id } = request;
  const asksSlack = given.has("slack_channel_id") && id !== "";
  const found = asksSlack ? await deps.slack.findChannel(botToken, id) : undefined;
  const refused = () => channelNotJoined("slackChannelId", id);
  const channel = found && (await answered(deps, { context, row }, found, refused));
  if (channel?.isMember === false) throw refused();
  return (db) =>
    inTransaction(db, async (tx) => {
      const before = await findIntegration(tx, workspaceId, { lock: true });
      if (before === undefined) throw notConnected();
      // It was replaced meanwhile, and another bot may not see the channel.
      if (before.id !== row.id) return undefined;
      checkConnected(before, given);
      const said = settingsOf(before);
      const wanted: Settings = { ...said, ...readWanted(request, given, channel?.name) };
      const choosesWhere = given.has("status") || given.has("slack_channel_id");
      if (choosesWhere && !wanted.is_paused && wanted.channel_id === "") throw channelRequired();
      const { link_id } = wanted;
      if (link_id !== null && link_id !== said.link_id && !(await hasLink(tx, workspaceId, link_id)))
        throw notFound("link", "linkId", link_id);
      if (!isDeepStrictEqual(wanted, said)) await write(tx, before, wanted, deps.now());
      const after = await findIntegration(tx, workspaceId);
      return after && { slackIntegration: toSlackIntegration(after) };
    });
}

type Field = "status" | "slack_channel_id" | "slack_channel_name" | "link_id" | "triggers";

/** Without a token there is nothing to start, to pause, or to choose. */
function checkConnected({ status }: IntegrationRow, given: ReadonlySet<Field>): void {
  if (status === "DISABLED" && (given.has("status") || given.has("slack_channel_id"))) throw notActive();
}

function fieldsOf(request: UpdateSlackIntegrationRequest): ReadonlySet<Field> {
  const { status, slackChannelId, slackChannelName, linkId, triggers } = request;
  const values = {
    status,
    slack_channel_id: slackChannelId,
    slack_channel_name: slackChannelName,
    link_id: linkId,
    triggers,
  };
  return fieldsToChange<Field>(values, request.updateMask?.paths);
}

function settingsOf({ is_paused, channel_id, channel_name, link_id, triggers }: IntegrationRow): Settings {
  return { is_paused, channel_id, channel_name, link_id, triggers };
}

/** The fields that a request changes. A channel without a name gets the one that it has at Slack. */
function readWanted(
  request: UpdateSlackIntegrationRequest,
  given: ReadonlySet<Field>,
  nameAtSlack: string | undefined,
): Partial<Settings> {
  const { status, slackChannelId, slackChannelName, linkId, triggers } = request;
  const kinds = [...new Set(triggers)].sort((a, b) => a - b).map((kind) => WorkflowStep_Kind[kind]);
  return {
    ...(given.has("status") && { is_paused: status === SlackIntegrationStatus.PAUSED }),
    ...(given.has("slack_channel_id") && { channel_id: slackChannelId, channel_name: nameAtSlack ?? "" }),
    ...(given.has("slack_channel_name") && { channel_name: slackChannelName }),
    ...(given.has("link_id") && { link_id: linkId === "" ? null : linkId }),
    ...(given.has("triggers") && { triggers: kinds }),
  };
}

async function write(tx: Context["db"], row: IntegrationRow, wanted: Settings, at: Date): Promise<void> {
  const { is_paused, channel_id, channel_name, link_id, triggers } = wanted;
  const { workspace_id: workspaceId, id: subscriberId } = row;
  await updateIntegration(tx, workspaceId, { is_paused, channel_id, channel_name, updated_at: at });
  // Without a channel, nothing is queued that would wait for one.
  const status = is_paused || channel_id === "" ? "PAUSED" : "ACTIVE";
  await changeSubscriber(
    tx,
    { workspaceId, subscriberId },
    { ...(row.status !== "DISABLED" && { status }), linkId: link_id, triggers },
    at,
  );
}
