import type { DeclaredProgram } from "./declared.ts";

/**
 * AI assistants: they fetch a page because a person asked for it just then, or drive a browser for a person. Fetchers
 * that gather pages for training or for an index are crawlers, even when an AI company runs them. The operator's own
 * documentation decides.
 */
export const assistants: readonly DeclaredProgram[] = [
  { name: "ChatGPT-User", origin: "OpenAI", pattern: /ChatGPT-User/i },
  { name: "ChatGPT Operator", origin: "OpenAI", pattern: /\bOperator\/\d.{0,99}openai/i },
  { name: "Codex", origin: "OpenAI", pattern: /\bcodex(?:[-_]cli|[-_]rs)?\/\d/i },
  { name: "Claude-User", origin: "Anthropic", pattern: /Claude-User/i },
  { name: "Claude Code", origin: "Anthropic", pattern: /Claude-?Code/i },
  { name: "Claude-Web", origin: "Anthropic", pattern: /Claude-Web/i },
  { name: "Perplexity-User", origin: "Perplexity", pattern: /Perplexity-User/i },
  { name: "MistralAI-User", origin: "Mistral AI", pattern: /MistralAI-User/i },
  { name: "Gemini Deep Research", origin: "Google", pattern: /Gemini-Deep-Research/i },
  { name: "Google Agent", origin: "Google", pattern: /GoogleAgent-(?:Mariner|URLContext)|Google-Agent/i },
  { name: "NotebookLM", origin: "Google", pattern: /Google-NotebookLM/i },
  { name: "Meta-ExternalFetcher", origin: "Meta", pattern: /meta-externalfetcher/i },
  { name: "DuckAssistBot", origin: "DuckDuckGo", pattern: /DuckAssistBot/i },
  { name: "Amzn-User", origin: "Amazon", pattern: /Amzn-User/i },
  { name: "Nova Act", origin: "Amazon", pattern: /NovaAct/i },
  { name: "Amazon Buy For Me", origin: "Amazon", pattern: /AmazonBuyForMe/i },
  { name: "Cohere", origin: "Cohere", pattern: /cohere-ai/i },
  { name: "Devin", origin: "Cognition", pattern: /\bDevin\/\d/i },
  { name: "Manus-User", origin: "Manus", pattern: /Manus-User/i },
  { name: "Kimi-User", origin: "Moonshot AI", pattern: /Kimi-User/i },
  { name: "Grok", origin: "xAI", pattern: /xAI-Grok|GrokAssistant|Grok-DeepSearch|\bGrok\/\d/i },
  { name: "Microsoft Copilot", origin: "Microsoft", pattern: /Copilot-User|MicrosoftCopilot|CopilotStudio/i },
  { name: "Phind", origin: "Phind", pattern: /PhindBot/i },
  { name: "Poe", origin: "Quora", pattern: /\bPoe-?Bot\b/i },
  { name: "iAsk", origin: "iAsk.AI", pattern: /iaskspider|iAskBot/i },
  { name: "LinerBot", origin: "Liner", pattern: /LinerBot/i },
  { name: "Andi", origin: "Andi", pattern: /Andibot/i },
  { name: "Tavily", origin: "Tavily", pattern: /TavilyBot/i },
  { name: "Browser Use", origin: "Browser Use", pattern: /\bbrowser-use\b/i },
];

/**
 * Agents that send the user agent of an ordinary browser and name themselves in the `Signature-Agent` header (Web Bot
 * Auth), by host. The signature itself is not verified, so this is a claim like a user agent.
 */
export const signatureAgents: Readonly<Record<string, { name: string; origin: string }>> = {
  "chatgpt.com": { name: "ChatGPT Agent", origin: "OpenAI" },
  "agent.bot.goog": { name: "Google Agent", origin: "Google" },
};
