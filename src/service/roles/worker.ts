import { join } from "node:path";
import { type BulkJobDeps, createLinksJob } from "../../api/links/bulk-job.ts";
import { replayWebhookJob } from "../../api/webhooks/replay.ts";
import { createPendingWorkspace } from "../../api/workspaces/create-workspace.ts";
import { sweepCertificates } from "../../certificates/queries.ts";
import { forgetRevocations } from "../../db/end-workspaces.ts";
import { createEntitlements } from "../../db/entitlements.ts";
import { sweepFiles } from "../../db/file-checks.ts";
import { ensurePartitions } from "../../db/migrate.ts";
import { deleteOldPasswordAttempts } from "../../db/password-attempts.ts";
import { takeOutExpiredLinks } from "../../db/take-out-links.ts";
import { checkDueDomains } from "../../domains/check-domain.ts";
import { deleteOldNames } from "../../domains/names.ts";
import { createTokenBox } from "../../integrations/token-box.ts";
import { deleteOldJobs } from "../../jobs/delete-old-jobs.ts";
import { deleteUnclaimedDesigns } from "../../jobs/delete-unclaimed-designs.ts";
import { endAgentRegistrations } from "../../jobs/end-agent-registrations.ts";
import { endIdleVisits } from "../../jobs/end-idle-visits.ts";
import { endTrials } from "../../jobs/end-trials.ts";
import { endUnacceptedSignUps } from "../../jobs/end-unaccepted-sign-ups.ts";
import { deleteExpiredExports } from "../../jobs/exports/delete-exports.ts";
import { exportEventsJob } from "../../jobs/exports/export-events.ts";
import { createExportMetrics } from "../../jobs/exports/metrics.ts";
import { fetchFormResponses } from "../../jobs/integrations/fetch-form-responses.ts";
import { revokeGoogleGrant } from "../../jobs/integrations/revoke-grant.ts";
import { revokeSlackToken } from "../../jobs/integrations/revoke-slack-token.ts";
import { noteInactivity } from "../../jobs/note-inactivity.ts";
import { makePageImages } from "../../jobs/pictures/make-page-images.ts";
import { renderPageThumbnail } from "../../jobs/pictures/render-page-thumbnail.ts";
import { renderQrcode } from "../../jobs/pictures/render-qrcode.ts";
import { renderThumbnail } from "../../jobs/pictures/render-thumbnail.ts";
import { deleteUnattachedThemes } from "../../jobs/purge/delete-unattached-themes.ts";
import { deleteOldReservations } from "../../jobs/purge/purge-reservations.ts";
import { purgeWorkspaces } from "../../jobs/purge/purge-workspaces.ts";
import { enqueue, jobCalls } from "../../jobs/queue.ts";
import { type Jobs, startJobs, type Tasks } from "../../jobs/runner.ts";
import { createSealing, sealing } from "../../jobs/seal-segments.ts";
import { sendDigests } from "../../jobs/send-digests.ts";
import { signUp } from "../../jobs/sign-up.ts";
import { deleteOldKeptMails, folderOutbox, smtpOutbox } from "../../mail/outbox.ts";
import { sendMail } from "../../mail/send-mail.ts";
import type { PeriodicJob } from "../../model/jobs.ts";
import { randomShortlink } from "../../model/links/shortlink.ts";
import { deleteIdleClients } from "../../oauth/clients.ts";
import { deleteOldGrants } from "../../oauth/grants.ts";
import { deleteOldKeys } from "../../oauth/signing-keys.ts";
import { deleteOldMessages } from "../../outbox/delete-old-messages.ts";
import { mailReset } from "../../people/asked-mails.ts";
import { deleteOldChallenges } from "../../people/challenges.ts";
import type { QueueMail } from "../../people/sign-in-code.ts";
import { deleteExpired } from "../../rpc/pipeline/idempotency.ts";
import { loadRules } from "../../rpc/pipeline/pipeline.ts";
import { deleteIdleBuckets } from "../../rpc/pipeline/rate-limit.ts";
import { refreshAllPages } from "../../visitors/pages/refresh-pages.ts";
import { deleteOldPending } from "../../visitors/pending-identify.ts";
import { revealVisits } from "../../visitors/reveal-visits.ts";

import { openOrdering, orderSoon, ownNames } from "./certificates.ts";
import { endAgentGrant } from "./open-agents.ts";

import { openDomains } from "./open-domains.ts";
import { openGoogle } from "./open-google.ts";
import { openSlack } from "./open-slack.ts";
import type { Parts } from "./parts.ts";
import { startSendingRole } from "./sending.ts";

// Times are in UTC. A process that was away makes up for a missed night within the day.
const times: Readonly<Record<PeriodicJob, readonly [time: string, options?: string]>> = {
  // One at a time: many visits may be revealed.
  "apply-plans": ["* * * * *", "?jobKey=apply-plans&queue=apply-plans"],
  "end-idle-visits": ["* * * * *"],
  "leave-expired-links": ["* * * * *"],
  // One at a time: a large workspace takes longer than a minute.
  "purge-workspaces": ["* * * * *", "?jobKey=purge-workspaces&queue=purge-workspaces"],
  // One at a time, in whatever process.
  "seal-segments": ["* * * * *", `?jobKey=seal-segments&queue=${sealing}`],
  // One at a time: the first pages of a large workspace take longer than a minute.
  "refresh-visitor-pages": ["* * * * *", "?jobKey=refresh-visitor-pages&queue=refresh-visitor-pages"],
  // One at a time: it takes the turns of all workspaces.
  "fetch-form-responses": ["* * * * *", "?jobKey=fetch-form-responses&queue=fetch-form-responses"],
  // One at a time: name servers may take seconds each.
  "check-domains": ["* * * * *", "?jobKey=check-domains&queue=check-domains"],
  // One at a time: authorities take their time, and it serves all names.
  "order-certificates": ["* * * * *", "?jobKey=order-certificates&queue=certificates"],
  // Zones differ by quarters of an hour.
  "send-digests": ["*/15 * * * *"],
  "delete-expired": ["17 * * * *"],
  "sweep-files": ["41 * * * *"],
  "note-inactivity": ["53 2 * * *", "?fill=1d"],
  "ensure-partitions": ["23 3 * * *", "?fill=1d"],
};
/** The rules are loaded with the first job that needs them. */
const checkRequest: BulkJobDeps["checkRequest"] = async (...request) =>
  (await loadRules()).checkRequest(...request);

const crontab = Object.entries(times).map(([job, [time, options = ""]]) => `${time} ${job} ${options}`);

/** Runs queued jobs and the hourly and nightly housekeeping, and sends what waits in the outbox. */
export async function startWorker(parts: Parts): Promise<Jobs> {
  const { config, connection, jobsDb: db, analytics, keyFor, now, log, metrics, storage, addresses } = parts;
  const { authUrl, baseUrl, shortUrl } = addresses;
  const { bulkJobLinks } = config;
  const slack = openSlack(config, addresses);
  const { from, smtpUrl } = config.mail;
  const mailFolder = join(config.dataDir, "mail");
  const queueMail: QueueMail = (tx, mail) => enqueue(tx, "send-mail", mail);
  const google = openGoogle(parts);
  const domains = openDomains(parts);
  const orderCertificates = openOrdering(parts);
  const tokenBox = createTokenBox(keyFor("integration-tokens"));
  const tasks: Tasks = {
    "render-qrcode": renderQrcode({ db, storage, now, shortUrl }),
    "create-links": createLinksJob({
      db,
      now,
      newShortlink: randomShortlink,
      jobCalls,
      shortUrl,
      bulkJobLinks,
      entitlements: createEntitlements({ plans: config.plans, now }),
      checkRequest,
    }),
    "replay-webhook": replayWebhookJob({ db, now }),
    "make-page-images": makePageImages({ db, storage, now }),
    "render-thumbnail": renderThumbnail({ db, storage, now, shortUrl }),
    "render-page-theme-thumbnail": renderPageThumbnail({ db, storage, now }),
    "export-events": exportEventsJob({
      db,
      storage,
      now,
      log,
      countExport: createExportMetrics(metrics),
      connection,
      folder: join(config.dataDir, "exports"),
    }),
    "delete-exports": ({ workspaceId }) => deleteExpiredExports(db, storage, { at: now(), workspaceId }),
    "revoke-slack-token": (payload) => revokeSlackToken({ db, slack, tokenBox }, payload),
    "mail-reset": ({ email }) => mailReset({ db, now, queueMail }, email),
    "sign-up": signUp({
      db,
      now,
      queueMail,
      createWorkspace: (tx, order) => createPendingWorkspace(tx, order, now(), config.plans),
    }),
    "order-certificates": (_payload, signal) => orderCertificates(signal),
    "send-mail": sendMail({
      db,
      now,
      outbox: smtpUrl === undefined ? folderOutbox(mailFolder) : smtpOutbox(smtpUrl, now),
      from,
      challengeKey: keyFor("member-challenges"),
      authUrl,
      baseUrl,
      log,
    }),
    "revoke-google-grant": (order) => revokeGoogleGrant({ db, google, tokenBox }, order),
    "fetch-form-responses": (_payload, signal) => fetchFormResponses({ db, now, google, tokenBox }, signal),
    "check-domains": (_payload, signal) => checkDueDomains({ db, domains, now }, signal),
    "delete-expired": async (_payload, signal) => {
      await deleteOldMessages(db, now(), signal);
      await deleteExpired(db, now());
      await deleteIdleBuckets(db, now());
      await deleteUnclaimedDesigns(db, now());
      await deleteUnattachedThemes(db, now());
      while ((await deleteOldPasswordAttempts(db, now())) > 0);
      while ((await deleteOldPending(db, now())) > 0);
      while ((await deleteOldChallenges(db, now())) > 0);
      while ((await deleteOldGrants(db, now())) > 0);
      while ((await deleteIdleClients(db, now())) > 0);
      await deleteOldKeys(db, now());
      while ((await deleteOldReservations(db, now())) > 0);
      while ((await deleteOldNames(db, now())) > 0);
      await deleteOldJobs(db, now());
      await deleteExpiredExports(db, storage, { at: now() });
      await endUnacceptedSignUps({ db, storage, tokenBox, now }, signal);
      await forgetRevocations(db, now());
      await sweepCertificates(db, ownNames(addresses), now());
      await deleteOldKeptMails(mailFolder, now());
    },
    "sweep-files": async () => {
      while ((await sweepFiles(db, { storage, now })) > 0);
    },
    "apply-plans": async (_payload, signal) => {
      await endTrials(db, now());
      await revealVisits({ db, plans: config.plans, now }, signal);
    },
    "end-idle-visits": (_payload, signal) => endIdleVisits({ db, plans: config.plans, now }, signal),
    "leave-expired-links": async (_payload, signal) => {
      while (!signal.aborted && (await takeOutExpiredLinks(db, now())) > 0);
    },
    "purge-workspaces": async (_payload, signal) => {
      await endAgentRegistrations({ db, storage, tokenBox, now, endGrant: endAgentGrant }, signal);
      await purgeWorkspaces({ db, storage, tokenBox, now }, signal);
    },
    "note-inactivity": (_payload, signal) => noteInactivity({ db, now }, signal),
    "seal-segments": createSealing({ db, connection, now }),
    "send-digests": (_payload, signal) => sendDigests({ db, analytics, now }, signal),
    "refresh-visitor-pages": (_payload, signal) => refreshAllPages(db, signal),
    "ensure-partitions": () => ensurePartitions(db, now()),
  };
  // The service's own hosts need certificates before anybody can ask for one.
  if (config.acme !== undefined) await orderSoon(db);
  const sending = await startSendingRole(parts);
  const jobs = startJobs({
    connection,
    tasks,
    crontab: crontab.join("\n"),
    // An export, a purge and the pages of visitors may each take long, and mails do not wait for them.
    concurrency: 4,
    stopTimeoutMs: config.drainTimeoutMs,
    log,
  });
  return {
    async stop() {
      await Promise.all([jobs.stop(), sending.stop()]);
    },
  };
}
