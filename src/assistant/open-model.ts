import type { Model } from "./model.ts";

/** Where the model is, and how to reach it. */
export interface ModelConfig {
  /** The address below which `/chat/completions` is, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** The model's name there. */
  readonly name: string;
  readonly apiKey: string | undefined;
  /** The most time without a word from the model, in milliseconds; 30,000 when absent. */
  readonly silenceMs?: number;
}

/** Opens a model behind an OpenAI-compatible address. Its library is loaded with the first question. */
export function openModel(config: ModelConfig): Model {
  let loading: Promise<Model> | undefined;
  const load = async () => (await import("./openai-model.ts")).createOpenaiModel(config);
  return {
    async reply(...question) {
      loading ??= load().catch((error: unknown) => {
        // The next question tries again.
        loading = undefined;
        throw error;
      });
      return (await loading).reply(...question);
    },
  };
}
