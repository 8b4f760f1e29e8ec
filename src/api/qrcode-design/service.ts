import type { QrcodeDesignService } from "../../../gen/signpost/v1/qrcode_design_service_pb.js";
import { fail, faultsFrom } from "../../lib/errors.ts";
import { callerOf, type Handlers, inTwoParts, withCheck } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { fileSigner } from "../resources/file-address.ts";
import { toQrcodeDesign } from "../resources/qrcode-design.ts";
import { prepareApplication } from "./apply-template.ts";
import { prepareDesign } from "./create-design.ts";
import { toScannability } from "./message.ts";
import { deleteDesign, findDesign } from "./queries.ts";
import { noSuchDesign, optionsOf } from "./restyle.ts";
import { verify } from "./scannability.ts";
import { prepareChange, readDesignUpdate } from "./update-design.ts";

export function qrcodeDesignService(deps: Deps): Handlers<typeof QrcodeDesignService> {
  return {
    publicCreate: inTwoParts((request, context) => prepareDesign(deps, request, context)),
    update: withCheck(
      (request) => faultsFrom(() => readDesignUpdate(request)),
      inTwoParts((request, context) => prepareChange(deps, request, context)),
    ),
    applyTemplate: inTwoParts((request, context) => prepareApplication(deps, request, context)),

    async get({ id }, context) {
      const row = await findDesign(context.db, callerOf(context).workspaceId, id);
      if (row === undefined) throw noSuchDesign(id);
      return { qrcodeDesign: toQrcodeDesign(row, fileSigner(deps)) };
    },

    async verify({ id }, context) {
      const row = await findDesign(context.db, callerOf(context).workspaceId, id);
      if (row === undefined) throw noSuchDesign(id);
      return { scannability: toScannability(await verify(deps, row, optionsOf(row), context.signal)) };
    },

    async delete({ id }, context) {
      const outcome = await deleteDesign(context.db, callerOf(context).workspaceId, id, deps.now());
      if (outcome === "missing") throw noSuchDesign(id);
      if (outcome === "in use")
        throw fail(
          "FAILED_PRECONDITION",
          "DESIGN_IN_USE",
          `QR code design ${id} is already used by a link or template`,
        );
      return {};
    },
  };
}
