import type { CallExpression, Expression, Node, TemplateLiteral } from "typescript/unstable/ast";
import * as is from "typescript/unstable/ast/is";
import type { Checker, Symbol as Named, TypeReference } from "typescript/unstable/sync";

/**
 * A template with choices is composed in two ways. `full` takes the branch of a true condition, a function's last
 * return, and a list with everything added to it. `bare` takes the other branch, the early return, and the list as it
 * begins.
 */
export const ways = ["full", "bare"] as const;

/** The placeholder of a fragment that only the running program knows, such as a parameter of an exported function. */
const unknown = "null";

/**
 * Composes the text of an `sql` template as Kysely would, without running it. Values become parameters. Fragments are
 * followed through constants, functions and their arguments, in any file.
 */
export function textOfTemplate(
  template: TemplateLiteral,
  checker: Checker,
  way: (typeof ways)[number],
): string {
  /** The arguments of the functions on the way, by the parameters' symbols. */
  const given = new Map<number, Expression>();
  let values = 0;

  function templateText(of: TemplateLiteral, textOf: (inner: Expression) => string): string {
    if (!is.isTemplateExpression(of)) return is.isNoSubstitutionTemplateLiteral(of) ? of.text : unknown;
    return (
      of.head.text + of.templateSpans.map((span) => textOf(span.expression) + span.literal.text).join("")
    );
  }

  function sqlText(of: Expression): string {
    if (isFragment(of)) return fragment(of);
    values += 1;
    return `$${values}`;
  }

  function isFragment(of: Expression): boolean {
    const type = checker.getTypeAtLocation(of);
    const present = type && checker.getNonNullableType(type);
    return present !== undefined && checker.getPropertyOfType(present, "toOperationNode") !== undefined;
  }

  function fragment(of: Expression | undefined): string {
    const meant = follow(of);
    if (meant === undefined) return unknown;
    if (is.isTaggedTemplateExpression(meant)) return templateText(meant.template, sqlText);
    if (!is.isCallExpression(meant)) return unknown;
    const [first, second] = meant.arguments;
    switch (meant.expression.getText()) {
      case "sql.raw":
        return plainText(first);
      case "sql.ref":
      case "sql.table":
        return `"${plainText(first).replaceAll(".", '"."')}"`;
      case "sql.join":
        return elements(first)
          .map(sqlText)
          .join(second === undefined ? ", " : fragment(second));
      default:
        return fragment(answerOf(meant));
    }
  }

  /** The parts of a list; parts that are added later belong to the full way. */
  function elements(list: Expression | undefined): readonly Expression[] {
    const meant = follow(list);
    if (meant === undefined || !is.isArrayLiteralExpression(meant)) return [];
    const own = meant.elements.flatMap((one) => (is.isSpreadElement(one) ? spread(one.expression) : one));
    if (way === "bare" || list === undefined || !is.isIdentifier(list)) return own;
    const block = enclosing(meant, is.isBlock);
    const calls = block === undefined ? [] : inside(block, is.isCallExpression);
    const pushes = calls.filter(({ expression }) => expression.getText() === `${list.text}.push`);
    return [...own, ...pushes.flatMap((call) => [...call.arguments])];
  }

  /** What `...list` adds: all values of a tuple; nothing for a list of unknown length. */
  function spread(list: Expression): readonly Expression[] {
    const type = checker.getTypeAtLocation(list);
    if (type === undefined || !checker.isTupleType(type)) return [];
    return checker.getTypeArguments(type as TypeReference).map(() => list);
  }

  function plainText(of: Expression | undefined): string {
    const meant = follow(of);
    const literal = literalsOf(of).at(0) ?? literalsOf(meant).at(0);
    if (literal !== undefined) return literal;
    if (meant === undefined) return unknown;
    if (is.isCallExpression(meant)) return plainText(answerOf(meant));
    return is.isTemplateExpression(meant) ? templateText(meant, plainText) : unknown;
  }

  /** The texts that a value can have, according to its type. */
  function literalsOf(of: Expression | undefined): string[] {
    const type = of && checker.getTypeAtLocation(of);
    if (type === undefined) return [];
    const each = type.isUnionType() ? type.getTypes() : [type];
    return each.flatMap((one) => (one.isStringLiteralType() ? one.value : []));
  }

  /** The value that a function returns for these arguments. */
  function answerOf(call: CallExpression): Expression | undefined {
    const callee = follow(call.expression);
    if (callee === undefined || !is.isFunctionLikeDeclaration(callee) || callee.body === undefined)
      return undefined;
    callee.parameters.forEach((parameter, place) => {
      const argument = follow(call.arguments[place]);
      for (const name of argument === undefined ? [] : inside(parameter, is.isIdentifier)) {
        const symbol = checker.getSymbolAtLocation(name);
        const part = symbol && partOf(argument, symbol);
        if (symbol !== undefined && part !== undefined) given.set(symbol.id, part);
      }
    });
    if (!is.isBlock(callee.body)) return callee.body as Expression;
    return inside(callee.body, is.isReturnStatement).at(way === "bare" ? 0 : -1)?.expression;
  }

  /** The part of a value that a name inside `{ … }` destructures, or all of it. */
  function partOf(value: Expression | undefined, symbol: Named): Expression | undefined {
    const declared = symbol.valueDeclaration?.resolve();
    if (declared === undefined || !is.isBindingElement(declared)) return value;
    return property(value, (declared.propertyName ?? declared.name)?.getText());
  }

  function property(of: Expression | undefined, name: string | undefined): Expression | undefined {
    const meant = follow(of);
    if (meant === undefined || !is.isObjectLiteralExpression(meant)) return undefined;
    for (const one of meant.properties) {
      if (is.isPropertyAssignment(one) && one.name.getText() === name) return one.initializer;
      if (is.isShorthandPropertyAssignment(one) && one.name.getText() === name)
        return valueBehind(checker.getShorthandAssignmentValueSymbol(one));
    }
    return undefined;
  }

  /** The expression behind a name, a property or a choice; undefined when there is none. */
  function follow(from: Expression | undefined): Expression | undefined {
    if (from === undefined) return undefined;
    if (is.isParenthesizedExpression(from) || is.isAsExpression(from) || is.isSatisfiesExpression(from))
      return follow(from.expression);
    if (is.isConditionalExpression(from)) return follow(way === "full" ? from.whenTrue : from.whenFalse);
    if (is.isIdentifier(from)) return follow(valueBehind(checker.getSymbolAtLocation(from)));
    if (is.isElementAccessExpression(from))
      return follow(property(from.expression, plainText(from.argumentExpression)));
    if (is.isPropertyAccessExpression(from)) return follow(property(from.expression, from.name.text));
    return from;
  }

  function valueBehind(symbol: Named | undefined): Expression | undefined {
    if (symbol === undefined) return undefined;
    const argument = given.get(symbol.id);
    if (argument !== undefined) return argument;
    const declared = symbol.valueDeclaration?.resolve();
    if (declared === undefined) {
      const imported = checker.getAliasedSymbol(symbol);
      return imported.valueDeclaration && valueBehind(imported);
    }
    if (is.isVariableDeclaration(declared)) return declared.initializer;
    if (is.isBindingElement(declared))
      return partOf(enclosing(declared, is.isVariableDeclaration)?.initializer, symbol);
    // A function declaration is no expression, but calls of its name lead to it.
    return is.isFunctionDeclaration(declared) ? (declared as Node as Expression) : undefined;
  }

  return templateText(template, sqlText);
}

/** All nodes of a kind within a node, including itself, in source order. */
export function inside<Kind extends Node>(node: Node, isKind: (node: Node) => node is Kind): Kind[] {
  const found: Kind[] = isKind(node) ? [node] : [];
  node.forEachChild((child) => {
    found.push(...inside(child, isKind));
  });
  return found;
}

function enclosing<Kind extends Node>(node: Node, isKind: (node: Node) => node is Kind): Kind | undefined {
  for (let at = node.parent; at !== undefined; at = at.parent) if (isKind(at)) return at;
  return undefined;
}
