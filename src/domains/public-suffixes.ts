/**
 * The list of public suffixes, which is loaded with this file. The bundle finds the library's names in a file that imports
 * them, and not in a call of `import`.
 */
export { getDomain } from "tldts";
