import pg from "pg";
import { reservedColumns } from "../../visitors/visitor-attributes.ts";
import type { GivenChunk } from "../kernels/attributes.ts";
import { addBit, type Bits, bitsFor, codeOfVisitor, noBits } from "../kernels/people.ts";
import { bigintAt, copyOut, millisecondsAt, textAt } from "../segments/copy-out.ts";
import { NotSealed } from "./read-state.ts";

/** Reads the codes of visitors who have an e-mail address or a phone number. */
export async function readIdentified(client: pg.ClientBase, workspaceId: string): Promise<Bits> {
  let found = noBits;
  await copyOut(
    client,
    `select number from visitors
      where workspace_id = ${pg.escapeLiteral(workspaceId)} and (email is not null or phone is not null)`,
    (row) => {
      const code = codeOfVisitor(bigintAt(row, 0));
      found = bitsFor(found, code);
      addBit(found, code);
    },
  );
  return found;
}

/** Everybody who has an attribute, the newest value first. */
export interface GivenValuesOf {
  readonly chunks: readonly GivenChunk[];
  readonly bytes: number;
}

const chunkRows = 16_384;

/** How much the values of one attribute may take, in bytes. The heap that all workspaces share is twelve times as large. */
const givenBytesMax = 64 * 1024 * 1024;

/** What a value takes besides its characters. */
const valueBytes = 64;

export async function readGiven(
  client: pg.ClientBase,
  workspaceId: string,
  key: string,
): Promise<GivenValuesOf> {
  const growing = growingChunks();
  await copyOut(client, givenSql(workspaceId, key), (row) => {
    growing.add(codeOfVisitor(bigintAt(row, 0)), textAt(row, 1), millisecondsAt(row, 2));
    if (growing.bytes() > givenBytesMax) throw new NotSealed("the values of an attribute are too long");
  });
  return growing.finish();
}

function givenSql(workspaceId: string, key: string): string {
  const workspace = pg.escapeLiteral(workspaceId);
  const column = Object.entries(reservedColumns).find(([reserved]) => reserved === key)?.[1];
  if (column !== undefined)
    return `select number, ${column}, updated_at from visitors
      where workspace_id = ${workspace} and ${column} is not null order by updated_at desc, id desc`;
  return `select v.number, a.value, a.updated_at from visitor_attributes a
    join visitors v on v.workspace_id = a.workspace_id and v.id = a.visitor_id
    where a.workspace_id = ${workspace} and a.key = ${pg.escapeLiteral(key)}
    order by a.updated_at desc, a.visitor_id desc`;
}

function growingChunks() {
  const chunks: GivenChunk[] = [];
  let bytes = 0;
  let people: number[] = [];
  let ats: number[] = [];
  let codes: number[] = [];
  let values = new Map<string, number>();

  function end(): void {
    if (people.length === 0) return;
    chunks.push({
      people: Uint32Array.from(people),
      values: [...values.keys()],
      codes: Uint32Array.from(codes),
      ats: Float64Array.from(ats),
    });
    bytes += 16 * people.length;
    [people, ats, codes, values] = [[], [], [], new Map()];
  }

  return {
    add(person: number, value: string, at: number): void {
      let code = values.get(value);
      if (code === undefined) {
        code = values.size;
        values.set(value, code);
        bytes += valueBytes + 2 * value.length;
      }
      people.push(person);
      codes.push(code);
      ats.push(at);
      if (people.length === chunkRows) end();
    },
    bytes: () => bytes,
    finish(): GivenValuesOf {
      end();
      return { chunks, bytes };
    },
  };
}
