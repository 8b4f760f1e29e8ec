import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TaggedTemplateExpression } from "typescript/unstable/ast";
import { isPropertyAccessExpression, isTaggedTemplateExpression } from "typescript/unstable/ast/is";
import { API, type Checker, SymbolFlags, type Type } from "typescript/unstable/sync";
import { inside, textOfTemplate, ways } from "./sql-templates.ts";

/** A column of a declared row type. */
export interface DeclaredColumn {
  readonly name: string;
  readonly isOptional: boolean;
  /** The kinds of values, without null; `unknown` for columns that can hold anything, such as JSON. */
  readonly kind:
    | "string"
    | "number"
    | "bigint"
    | "boolean"
    | "Date"
    | "Buffer"
    | "array"
    | "null"
    | "unknown";
}

/** A statement of the sources: an `sql` template that is executed directly. */
export interface SourceStatement {
  readonly place: string;
  /** The columns of the row type in `sql<Row>`; none without such a type. */
  readonly columns: readonly DeclaredColumn[];
  /** The text in each way that it can be composed. */
  readonly texts: readonly string[];
}

/** All statements of the sources, with their types according to the compiler. */
export function sourceStatements(root: string): SourceStatement[] {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(root, "tsconfig.json")] }).getProjects();
    if (project === undefined) throw new Error("the compiler found no project");
    const { checker, program } = project;
    const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
      .map((file) => `src/${file}`);
    return files.flatMap((file) => {
      if (!readFileSync(join(root, file), "utf8").includes(".execute(")) return [];
      const source = program.getSourceFile(join(root, file));
      if (source === undefined) throw new Error(`the compiler does not know ${file}`);
      return inside(source, isTaggedTemplateExpression)
        .filter(isExecuted)
        .map(({ tag, typeArguments, template }) => {
          const row = typeArguments?.[0] && checker.getTypeFromTypeNode(typeArguments[0]);
          return {
            place: `${file}:${source.text.slice(0, tag.getStart()).split("\n").length}`,
            columns: row === undefined ? [] : columnsOf(checker, row),
            texts: [...new Set(ways.map((way) => textOfTemplate(template, checker, way)))],
          };
        });
    });
  } finally {
    api.close();
  }
}

function isExecuted({ tag, parent }: TaggedTemplateExpression): boolean {
  return tag.getText() === "sql" && isPropertyAccessExpression(parent) && parent.name.text === "execute";
}

function columnsOf(checker: Checker, row: Type): DeclaredColumn[] {
  return checker.getPropertiesOfType(row).map((property) => {
    const type = checker.getTypeOfSymbol(property);
    return {
      name: property.name,
      isOptional: (property.flags & SymbolFlags.Optional) !== 0,
      kind: type === undefined ? "unknown" : kindOf(checker, type),
    };
  });
}

function kindOf(checker: Checker, type: Type): DeclaredColumn["kind"] {
  if (checker.isTypeAssignableTo(type, checker.getNullType())) return "null";
  const value = checker.getNonNullableType(type) ?? type;
  const isA = (other: Type) => checker.isTypeAssignableTo(value, other);
  if (isA(checker.getStringType())) return "string";
  if (isA(checker.getNumberType())) return "number";
  if (isA(checker.getBigIntType())) return "bigint";
  if (isA(checker.getBooleanType())) return "boolean";
  const name = value.getSymbol()?.name;
  if (name === "Array" || name === "ReadonlyArray") return "array";
  return name === "Date" || name === "Buffer" ? name : "unknown";
}
