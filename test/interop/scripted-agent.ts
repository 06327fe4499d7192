import { generateText, stepCountIs, type ToolSet } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/** What the model does next: a call of a tool, or its last words. */
export type Turn = string | { readonly tool: string; readonly input: object };
/** One turn from the texts of all tool results so far, the newest last. */
export type ScriptedTurn = (results: readonly string[]) => Turn;

/** What went between the agent and the tools. */
export interface Transcript {
  readonly answer: string;
  /** Texts of the tool results, in the order of the calls. */
  readonly results: readonly string[];
  /** One line for each message, shortened. */
  readonly lines: readonly string[];
  /** What a model reads: the definitions of the tools, and all messages. */
  readonly tokens: { readonly tools: number; readonly messages: number };
}

/** The agent loop of the AI SDK, with a model that follows a script instead of thinking. */
export async function runAgent(
  question: string,
  tools: ToolSet,
  script: readonly ScriptedTurn[],
): Promise<Transcript> {
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => generated(nextTurn(script, resultsIn(prompt))),
  });
  const { text, response } = await generateText({
    model,
    tools,
    prompt: question,
    maxRetries: 0,
    stopWhen: stepCountIs(script.length),
  });
  const messages = [{ role: 'user', content: question }, ...response.messages];
  const definitions = model.doGenerateCalls[0]?.tools ?? [];
  return {
    answer: text,
    results: resultsIn(messages),
    lines: messages.map(lineOf),
    tokens: {
      tools: countTokens(JSON.stringify(definitions)),
      messages: countTokens(messages.map(textOf).join('\n')),
    },
  };
}

type Generated = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;

function nextTurn(script: readonly ScriptedTurn[], results: readonly string[]): Turn {
  const turn = script[results.length];
  if (turn === undefined) throw new Error(`The script ends after ${script.length} turns`);
  return turn(results);
}

function generated(turn: Turn): Generated {
  const none = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 };
  const usage = { inputTokens: none, outputTokens: none };
  if (typeof turn === 'string') {
    const content = [{ type: 'text' as const, text: turn }];
    return { content, finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] };
  }
  const call = { type: 'tool-call' as const, toolCallId: turn.tool, toolName: turn.tool };
  const content = [{ ...call, input: JSON.stringify(turn.input) }];
  return { content, finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] };
}

interface AnyMessage {
  readonly role: string;
  readonly content: unknown;
}
interface AnyPart {
  readonly type: string;
  readonly text?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: { readonly type: string; readonly value?: unknown };
}

function partsOf({ content }: AnyMessage): readonly AnyPart[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : (content as readonly AnyPart[]);
}

function resultsIn(messages: readonly AnyMessage[]): string[] {
  return messages.flatMap((message) =>
    partsOf(message)
      .filter(({ type }) => type === 'tool-result')
      .map(partText),
  );
}

/** What a model reads of a part. */
function partText({ text, toolName, input, output }: AnyPart): string {
  if (text !== undefined) return text;
  if (output === undefined) return `${toolName} ${JSON.stringify(input)}`;
  const { value } = output;
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return JSON.stringify(value);
  return (value as readonly AnyPart[]).map((part) => part.text ?? '').join('');
}

function textOf(message: AnyMessage): string {
  return partsOf(message).map(partText).join('\n');
}

const SHOWN_CHARS = 160;

function lineOf(message: AnyMessage): string {
  const text = textOf(message);
  const tokens = countTokens(text);
  const shown = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
  return `${message.role.padEnd(10)}${String(tokens).padStart(6)}  ${shown}`;
}
