import { timestampDate } from "@bufbuild/protobuf/wkt";
import { TasksService } from "../../../gen/signpost/tasks/v1/tasks_service_pb.js";
import type { Link } from "../../../gen/signpost/v1/link_pb.js";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { QrcodeDesignService } from "../../../gen/signpost/v1/qrcode_design_service_pb.js";
import { findDirectory } from "../steps/directories.ts";
import { linkFinding, summariesOf } from "../steps/find-link.ts";
import {
  type ChosenLook,
  chooseLook,
  codeOf,
  looking,
  readabilityLine,
  readabilityOf,
  verify,
} from "../steps/look.ts";
import { defineTask, type Steps, write } from "../steps/task.ts";
import type { Json } from "../tool.ts";

/** Makes a link whose code has a chosen look. Whatever is refused is refused before the link is made. */
export const createLinkWithQr = defineTask(
  TasksService.method.createLinkWithQr,
  [...linkFinding, ...looking, LinksService.method.create, QrcodeDesignService.method.publicCreate],
  function* ({
    look,
    directory,
    expiresAt,
    destination,
    name,
    shortlink,
    tags,
    purpose,
    expiredDestination,
  }) {
    const chosen = yield* chooseLook(look);
    const directoryId = directory === "" ? "" : yield* findDirectory(directory);
    const link = yield* create({
      destination,
      name,
      shortlink,
      tags,
      purpose,
      expiredDestination,
      directoryId,
      waitForQrcode: true,
      ...(expiresAt && { expiresAt: timestampDate(expiresAt).toISOString() }),
      ...(yield* designOf(chosen)),
    });
    const [summary] = yield* summariesOf([link]);
    const scannability = chosen.kind === "none" ? undefined : yield* verify(link.qrcodeDesignId);
    const { address, image } = yield* codeOf(link);
    return {
      result: {
        ...(summary && { link: summary }),
        ...(scannability && { readability: readabilityOf(scannability) }),
        imageUrl: address,
      },
      text: [
        `${link.entrypoint} leads to ${destination} (link id ${link.id}).`,
        chosen.kind === "none"
          ? "The code is black on white, which readers read."
          : readabilityLine(scannability),
        address === "" ? "The image is being drawn: get it with check_qr_code." : `Image: ${address}`,
      ],
      images: [image],
    };
  },
);

function* create(request: Json): Steps<Link> {
  const { link } = yield* write("create the link", LinksService.method.create, request, (answer) =>
    answer.link === undefined ? "" : `the link ${answer.link.entrypoint} was made (id ${answer.link.id})`,
  );
  if (link === undefined) throw new Error("an answer lacks its link");
  return link;
}

/** A design of colors is made before the link, because it is refused when its code cannot be read. */
function* designOf(look: ChosenLook): Steps<Json> {
  if (look.kind === "none") return {};
  if (look.kind === "template") return { qrcodeTemplateId: look.id };
  const { qrcodeDesign } = yield* write(
    "make the design",
    QrcodeDesignService.method.publicCreate,
    look.fields,
    () => "a design was made that goes away by itself unless a link uses it",
  );
  return { qrcodeDesignId: qrcodeDesign?.id };
}
