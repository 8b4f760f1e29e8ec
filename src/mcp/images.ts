import {
  type DescField,
  type DescMessage,
  type DescMethodUnary,
  getOption,
  type Message,
} from "@bufbuild/protobuf";
import { shows_image } from "../../gen/signpost/options/v1/tools_pb.js";
import { fieldsOf } from "../wire/read-message.ts";
import type { Image, Use } from "./tool.ts";

/** How many images an answer shows, and how many bytes they may have together. */
const imagesMax = 4;
const imageBytesMax = 1024 * 1024;

/** Reads the images of an answer. */
export type ReadImages = (message: Message, use: Use) => Promise<Image[]>;

const none: ReadImages = async () => [];

/** Makes what reads the images whose addresses stand in a method's answers, as the fields' options say. */
export function imagesIn({ output }: DescMethodUnary): ReadImages {
  const addresses = addressesIn(output, new Set());
  if (addresses === undefined) return none;
  return async (message, use) => {
    const images: Image[] = [];
    let bytes = 0;
    for (const address of addresses(message)) {
      if (images.length >= imagesMax) break;
      const image = await use.image(address);
      if (image === undefined || bytes + image.bytes.length > imageBytesMax) continue;
      bytes += image.bytes.length;
      images.push(image);
    }
    return images;
  };
}

/** Goes through the addresses in a message, as far as the reader wants. */
type Addresses = (message: Message) => Iterable<string>;

/** Compiles the way to the addresses; undefined when there are none below a message. */
function addressesIn(desc: DescMessage, above: ReadonlySet<DescMessage>): Addresses | undefined {
  if (above.has(desc)) return undefined;
  const below = new Set(above).add(desc);
  const ways = desc.fields.flatMap((field) => {
    const way = wayThrough(field, below);
    return way === undefined ? [] : [{ field, way }];
  });
  if (ways.length === 0) return undefined;
  return function* (message) {
    for (const { field, way } of ways) yield* way(heldIn(message, field));
  };
}

type Way = (value: unknown) => Iterable<string>;

function wayThrough(field: DescField, above: ReadonlySet<DescMessage>): Way | undefined {
  if (getOption(field, shows_image)) return texts;
  const inner = field.message === undefined ? undefined : addressesIn(field.message, above);
  if (inner === undefined) return undefined;
  return function* (value) {
    // The descriptor says that messages stand here.
    for (const each of elementsOf(field, value)) yield* inner(each as Message);
  };
}

function* texts(value: unknown): Iterable<string> {
  if (typeof value === "string") {
    if (value !== "") yield value;
  } else if (typeof value === "object" && value !== null) yield* Object.values(value);
}

function elementsOf({ fieldKind }: DescField, value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (fieldKind === "list" && Array.isArray(value)) return value;
  return fieldKind === "map" ? Object.values(value) : [value];
}

function heldIn(message: Message, { localName, oneof }: DescField): unknown {
  const fields = fieldsOf(message);
  if (oneof === undefined) return fields[localName];
  // A oneof is always present as `{case, value}`.
  const chosen = fields[oneof.localName] as { readonly case?: string; readonly value?: unknown };
  return chosen.case === localName ? chosen.value : undefined;
}
