import type { ShopTool, ToolParameters } from '../shop-tools.ts';

/** `tool` of `@openai/agents`. */
type MakeTool<Made> = (options: {
  name: string;
  description: string;
  parameters: Omit<ToolParameters, 'additionalProperties'> & { additionalProperties: true };
  strict: false;
  execute: (args: unknown) => Promise<string>;
}) => Made;

/** Tools of OpenAI Agents: `openaiAgentsTools(shopTools(client), tool)`. */
export function openaiAgentsTools<Made>(tools: readonly ShopTool[], tool: MakeTool<Made>): Made[] {
  return tools.map(({ name, description, parameters: own, run }) => {
    // Its loose form, since "max_usd" may be left out; what else comes is refused by the tool.
    const parameters = { ...own, additionalProperties: true as const };
    const execute = async (args: unknown) => (await run(args)).text;
    return tool({ name, description, parameters, strict: false, execute });
  });
}
