/** The words of a CamelCase name, in lower case: `GetOAuthURL` becomes `get`, `oauth`, `url`. */
export function splitWords(name: string): string[] {
  return (name.match(/[A-Z]?[A-Z][a-z0-9]+|[A-Z]+(?![a-z])/g) ?? []).map((word) => word.toLowerCase());
}

/** The group of a service: `WorkflowStepsService` becomes `workflow-steps`. */
export function groupName(service: string): string {
  return splitWords(service.replace(/Service$/, "")).join("-");
}

/**
 * The commands of a service's RPCs, in their order: the RPC's words without the resource, which the group names
 * already, if the shorter name stays unique. `ListEventTraces` of `EventsService` becomes `list-traces`.
 */
export function commandNames(service: string, methods: readonly string[]): string[] {
  const resource = splitWords(service.replace(/Service$/, ""));
  const short = methods.map((method) => withoutResource(splitWords(method), resource).join("-"));
  return short.map((name, index) => {
    const isUnique = short.indexOf(name) === short.lastIndexOf(name);
    return isUnique ? name : splitWords(methods[index] ?? "").join("-");
  });
}

/** Removes the longest end of the resource's words that occurs among an RPC's words, in singular or plural. */
function withoutResource(words: readonly string[], resource: readonly string[]): readonly string[] {
  for (let length = resource.length; length > 0; length--) {
    const wanted = resource.slice(-length).map(singular);
    // The first word is the verb, which always stays.
    for (let start = 1; start + length <= words.length; start++) {
      const part = words.slice(start, start + length).map(singular);
      if (part.every((word, index) => word === wanted[index]))
        return [...words.slice(0, start), ...words.slice(start + length)];
    }
  }
  return words;
}

/** A word without its plural ending, for comparisons only. */
export function singular(word: string): string {
  return word.replace(/ies$/, "y").replace(/s$/, "");
}
