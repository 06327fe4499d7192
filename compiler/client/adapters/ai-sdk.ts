import type { ShopTool, ToolParameters } from '../shop-tools.ts';

interface AiSdk<Schema, Made> {
  jsonSchema(schema: ToolParameters): Schema;
  tool(definition: AiTool<Schema>): Made;
}
interface AiTool<Schema> {
  readonly description: string;
  readonly inputSchema: Schema;
  readonly execute: (args: unknown) => Promise<string>;
}

/** Tools of the AI SDK: `aiSdkTools(shopTools(client), { tool, jsonSchema })`, both from `ai`. */
export function aiSdkTools<Schema, Made>(tools: readonly ShopTool[], ai: AiSdk<Schema, Made>) {
  const made = tools.map(({ name, description, parameters, run }) => {
    const execute = async (args: unknown) => (await run(args)).text;
    return [
      name,
      ai.tool({ description, inputSchema: ai.jsonSchema(parameters), execute }),
    ] as const;
  });
  return Object.fromEntries(made) as Record<string, Made>;
}
