import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Selectable } from "kysely";
import type { WorkspaceTokens } from "../../../gen/database.ts";
import { ApiScope, ApiScopeSchema } from "../../../gen/signpost/options/v1/access_pb.js";
import {
  WorkspaceTokenKeyType,
  type WorkspaceTokenSchema,
} from "../../../gen/signpost/v1/workspace_token_pb.js";
import { everyScope, scopeName } from "../../model/scope.ts";
import type { TokenKeyType } from "../../model/token.ts";

export type WorkspaceTokenRow = Selectable<WorkspaceTokens>;

const keyTypes = {
  SECRET: WorkspaceTokenKeyType.SECRET,
  PUBLISHABLE: WorkspaceTokenKeyType.PUBLISHABLE,
} as const satisfies Record<WorkspaceTokenRow["key_type"], WorkspaceTokenKeyType>;

/** Scopes by their public names, in the order of the enum. */
const scopesByName: ReadonlyMap<string, ApiScope> = new Map(
  ApiScopeSchema.values.flatMap(({ name, number }) =>
    number === ApiScope.UNSPECIFIED ? [] : [[scopeName(name), number]],
  ),
);

export function toWorkspaceToken(row: WorkspaceTokenRow): MessageInitShape<typeof WorkspaceTokenSchema> {
  const fullAccess = row.scope === everyScope;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    keyType: keyTypes[row.key_type],
    createdBy: row.created_by ?? "",
    ...(row.last_used_at ? { lastUsedAt: timestampFromDate(row.last_used_at) } : {}),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
    scopes: scopesOfText(row.scope),
    fullAccess,
  };
}

/** The scopes in the text of a token or a grant, in the order of the enum. */
export function scopesOfText(text: string): ApiScope[] {
  const names = new Set(text.split(" "));
  return [...scopesByName].flatMap(([name, scope]) =>
    text === everyScope || names.has(name) ? [scope] : [],
  );
}

/** The public names of scopes. All of them have one, because the rules have accepted them. */
export function namesOf(scopes: readonly ApiScope[]): string[] {
  const wanted = new Set(scopes);
  return [...scopesByName].flatMap(([name, scope]) => (wanted.has(scope) ? [name] : []));
}

/** The kind that a request names. */
export function fromKeyType(keyType: WorkspaceTokenKeyType): TokenKeyType {
  switch (keyType) {
    case WorkspaceTokenKeyType.SECRET:
      return "SECRET";
    case WorkspaceTokenKeyType.PUBLISHABLE:
      return "PUBLISHABLE";
    case WorkspaceTokenKeyType.UNSPECIFIED:
      throw new Error("a token without a kind was let through");
  }
}
