import { TasksService } from "../../../gen/signpost/tasks/v1/tasks_service_pb.js";
import type { Link } from "../../../gen/signpost/v1/link_pb.js";
import { QrcodeDesignService } from "../../../gen/signpost/v1/qrcode_design_service_pb.js";
import { findLink, linkFinding, summariesOf } from "../steps/find-link.ts";
import {
  awaitCode,
  type ChosenLook,
  chooseLook,
  looking,
  readabilityLine,
  readabilityOf,
  verify,
} from "../steps/look.ts";
import { defineTask, type Steps, write } from "../steps/task.ts";

/** Shows and judges a link's code, in a new look if one is given. */
export const checkQrCode = defineTask(
  TasksService.method.checkQrCode,
  [...linkFinding, ...looking, QrcodeDesignService.method.applyTemplate, QrcodeDesignService.method.update],
  function* ({ link: named, look }) {
    const link = yield* findLink(named);
    yield* dress(link, yield* chooseLook(look));
    const [summary] = yield* summariesOf([link]);
    const scannability = yield* verify(link.qrcodeDesignId);
    const { address, image } = yield* awaitCode(link.id);
    const readability = readabilityOf(scannability);
    return {
      result: { ...(summary && { link: summary }), readability, imageUrl: address },
      text: [
        `QR code of "${link.name}", ${link.entrypoint}.`,
        readabilityLine(scannability),
        ...(readability.advice ?? []).map((each) => `- ${each}`),
        address === "" ? "The image is being drawn: call again in a few seconds." : `Image: ${address}`,
      ],
      images: [image],
    };
  },
);

/** Gives the link's design a look. A look whose code cannot be read is refused. */
function* dress({ id, qrcodeDesignId }: Link, look: ChosenLook): Steps<void> {
  const did = () => "the QR code has the new look";
  if (look.kind === "template")
    yield* write(
      "apply the template",
      QrcodeDesignService.method.applyTemplate,
      { linkId: id, qrcodeTemplateId: look.id, requireScannable: true },
      did,
    );
  if (look.kind === "design")
    yield* write(
      "change the design",
      QrcodeDesignService.method.update,
      { id: qrcodeDesignId, ...look.fields },
      did,
    );
}
