import { Code, ConnectError } from "@connectrpc/connect";
import { beforeAll, expect, test } from "vitest";
import { QrcodeDesignService } from "../../../gen/signpost/v1/qrcode_design_service_pb.js";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { newId } from "../../lib/ids.ts";
import { registerPartly } from "../handlers.ts";

let running = 0;
let most = 0;
let started: string[] = [];
let open = Promise.withResolvers<void>();

const api = await startApi({
  // Calls that wait must not reach their deadline on a busy machine.
  requestTimeoutMs: 120_000,
  services: [
    registerPartly(QrcodeDesignService, {
      verify: async (_request, { caller }) => {
        running += 1;
        most = Math.max(most, running);
        started.push(caller?.workspaceId ?? "");
        await open.promise;
        running -= 1;
        return {};
      },
      delete: async () => ({}),
    }),
  ],
});

let [one, other]: TestWorkspace[] = [];
beforeAll(async () => {
  [one, other] = [await api.newWorkspace(), await api.newWorkspace()];
});

const path = () => `/v1/qrcode-designs/${newId(new Date())}`;
const verify = (workspace: TestWorkspace | undefined) => workspace?.rest("GET", `${path()}/scannability`);

test("a workspace that draws all the time delays only its own drawings: no light calls and no other workspaces", async () => {
  // One call runs and fifty wait. All others are refused, in whatever order they came.
  let refused = 0;
  const mine = Array.from({ length: 60 }, async () => {
    const reply = await verify(one);
    if (reply?.status === 429) refused += 1;
    return reply;
  });
  await expect.poll(() => [started.length, refused]).toEqual([1, 9]);
  const reply = await verify(one);
  expect([reply?.status, reply?.json.error.codeType, reply?.headers["retry-after"]]).toEqual([
    429,
    "RATE_LIMITED",
    "2",
  ]);
  expect((await one?.rest("DELETE", path()))?.status).toBe(200);
  const theirs = verify(other);
  await expect.poll(() => started.length).toBe(2);
  expect(started).toEqual([one?.workspaceId, other?.workspaceId]);
  open.resolve();
  expect((await theirs)?.status).toBe(200);
  const replies = await Promise.all(mine);
  expect(replies.filter((each) => each?.status === 200)).toHaveLength(51);
  expect(most).toBe(2);
});

test("a call that gives up while it waits leaves its place, and never runs", async () => {
  open = Promise.withResolvers<void>();
  started = [];
  const first = verify(one);
  await expect.poll(() => started.length).toBe(1);
  // This call's deadline passes while it waits.
  const client = one?.client(QrcodeDesignService);
  // Calls of the test before may have given up too.
  const logged = api.log().length;
  const late = client?.verify({ id: newId(new Date()) }, { timeoutMs: 3_000 });
  expect(await late?.catch((error: unknown) => ConnectError.from(error).code)).toBe(Code.DeadlineExceeded);
  await expect
    .poll(() => api.log().slice(logged))
    .toMatch(/Verify","protocol":"grpc","code":"(CANCELLED|DEADLINE_EXCEEDED)"/);
  const patient = verify(one);
  open.resolve();
  expect([(await first)?.status, (await patient)?.status]).toEqual([200, 200]);
  expect(started.length).toBe(2);
});
