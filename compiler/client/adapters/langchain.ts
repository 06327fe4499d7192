import type { ShopTool, ToolParameters } from '../shop-tools.ts';

/** `tool` of `@langchain/core/tools`. */
type MakeTool<Made> = (
  run: (args: unknown) => Promise<string>,
  fields: { name: string; description: string; schema: ToolParameters },
) => Made;

/** Tools of LangChain: `langchainTools(shopTools(client), tool)`. */
export function langchainTools<Made>(tools: readonly ShopTool[], tool: MakeTool<Made>): Made[] {
  return tools.map(({ name, description, parameters: schema, run }) =>
    tool(async (args) => (await run(args)).text, { name, description, schema }),
  );
}
