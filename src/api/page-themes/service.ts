import { create } from "@bufbuild/protobuf";
import { PageThemeSchema } from "../../../gen/signpost/v1/page_theme_pb.js";
import type {
  ApplyPageThemeTemplateRequest,
  PageThemesService,
} from "../../../gen/signpost/v1/page_themes_service_pb.js";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { callerOf, type Handlers, inTwoParts } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { notFound } from "../resources/not-found.ts";
import { toPageTheme } from "../resources/page-theme.ts";
import { findTheme } from "../resources/page-themes/theme-queries.ts";
import { prepareApplication } from "./apply-template.ts";
import { findMatchingTemplate } from "./find-matching.ts";
import { countThemes, listThemes } from "./queries.ts";
import { changeTheme } from "./update-theme.ts";

export function pageThemesService(deps: Deps): Handlers<typeof PageThemesService> {
  return {
    // The files of the template are copied before the transaction.
    applyTemplate: inTwoParts((request: ApplyPageThemeTemplateRequest, context) =>
      prepareApplication(deps, request, context),
    ),
    findMatchingTemplate: ({ linkId }, context) => findMatchingTemplate(deps, linkId, context),
    updatePageTheme: (request, context) => changeTheme(deps, request, context),

    async listPageThemes(request, context) {
      const { workspaceId } = callerOf(context);
      const filters = { workspaceId };
      const page = readPage(request, { key: "time", sort: "page themes newest first", filters });
      const [rows, totalCount] = await Promise.all([
        listThemes(context.db, workspaceId, page),
        countThemes(context.db, workspaceId),
      ]);
      const { records, nextPageToken } = await fillPage(page, {
        rows,
        edgeOf: ({ created_at, id }) => ({ key: created_at, id }),
        bytesOf: ({ bytes }) => bytes,
        recordOf: (row) => create(PageThemeSchema, toPageTheme(row)),
        write: (theme) => context.writeRecord(PageThemeSchema, theme),
      });
      return { pageThemes: records, nextPageToken, totalCount };
    },

    async getPageTheme({ id }, context) {
      const row = await findTheme(context.db, callerOf(context).workspaceId, id);
      if (row === undefined) throw notFound("page theme", "id", id);
      return { pageTheme: toPageTheme(row) };
    },
  };
}
