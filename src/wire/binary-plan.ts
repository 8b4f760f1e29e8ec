import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { anySize, type Bounds, boundsOf, type Size } from "./bounds.ts";

/** What the bytes of a message may contain. */
export interface MessagePlan {
  readonly fields: ReadonlyMap<number, FieldPlan>;
}

/** What the bytes of one field may contain. */
export interface FieldPlan {
  /** Undefined for the key and the value of a map's entry. */
  readonly field: DescField | undefined;
  /** The field's position among the fields of its message. */
  readonly index: number;
  /** The wire type of one value, as protobuf's number. */
  readonly wireType: number;
  /** The bytes of each value in a packed list, zero for varints; undefined for fields that are never packed. */
  readonly packedBytes: number | undefined;
  /** How often the field may occur; undefined for single values, of which the last counts. */
  readonly countMax: number | undefined;
  readonly countFault: string;
  readonly isElement: boolean;
  readonly size: Size;
  /** The plan of the field's bytes when they are a message. */
  readonly child: (() => MessagePlan) | undefined;
}

/** The wire types of protobuf. */
export const wireTypes = { varint: 0, fixed64: 1, delimited: 2, fixed32: 5 } as const;

const plans = new WeakMap<DescMessage, MessagePlan>();

/** Returns the plan of a message type, which is made once. */
export function planOf(schema: DescMessage): MessagePlan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    const fields = schema.fields.map((field, index) => [field.number, fieldPlan(field, index)] as const);
    plan = { fields: new Map(fields) };
    plans.set(schema, plan);
  }
  return plan;
}

function fieldPlan(field: DescField, index: number): FieldPlan {
  const bounds = boundsOf(field);
  const { itemsMax, size } = bounds;
  switch (field.fieldKind) {
    case "list": {
      const countFault = `must have at most ${itemsMax} items`;
      const value = valuePlan(field, field.scalar, size);
      return { field, index, ...value, countMax: itemsMax, countFault, isElement: true };
    }
    case "map": {
      const countFault = `must have at most ${itemsMax} entries`;
      const entry = { ...message, child: once(() => entryPlan(field, bounds)) };
      return { field, index, ...entry, size: anySize, countMax: itemsMax, countFault, isElement: true };
    }
    default:
      return { ...single(index, valuePlan(field, field.scalar, size)), field };
  }
}

/** The plan of a map's entry, which is encoded as a message with a key and a value. */
function entryPlan(field: DescField & { fieldKind: "map" }, { keySize, size }: Bounds): MessagePlan {
  const key = single(0, { ...scalarPlan(field.mapKey), child: undefined, size: keySize });
  const value = single(1, valuePlan(field, field.scalar, size));
  return {
    fields: new Map([
      [1, key],
      [2, value],
    ]),
  };
}

type ValuePlan = Pick<FieldPlan, "wireType" | "packedBytes" | "child" | "size">;

/** The plan of a single message field. It may occur once only: the library would merge a second one with the first. */
function single(index: number, value: ValuePlan): FieldPlan {
  const countMax = value.child === undefined ? undefined : 1;
  const unpacked = { ...value, packedBytes: undefined };
  return {
    field: undefined,
    index,
    ...unpacked,
    countMax,
    countFault: "must be given once",
    isElement: false,
  };
}

const message = { wireType: wireTypes.delimited, packedBytes: undefined };

function valuePlan(field: DescField, scalar: ScalarType | undefined, size: Size): ValuePlan {
  const schema = field.message;
  if (schema !== undefined) return { ...message, size, child: once(() => planOf(schema)) };
  return { ...scalarPlan(scalar ?? ScalarType.INT32), size, child: undefined };
}

function scalarPlan(scalar: ScalarType): Pick<FieldPlan, "wireType" | "packedBytes"> {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return { wireType: wireTypes.delimited, packedBytes: undefined };
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return { wireType: wireTypes.fixed64, packedBytes: 8 };
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return { wireType: wireTypes.fixed32, packedBytes: 4 };
    default:
      return { wireType: wireTypes.varint, packedBytes: 0 };
  }
}

/** Makes the plan on its first use, so that messages may contain themselves. */
function once(make: () => MessagePlan): () => MessagePlan {
  let made: MessagePlan | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
