import { messageOf } from '../format/errors.ts';
import { isObject, type JsonObject, type JsonValue, parseJson } from '../format/strict-json.ts';
import type { ShopTool } from './shop-tools.ts';

// A server of the Model Context Protocol over lines of text, for a host on the same machine that has no wallet: it holds one.
// The transport of x402 for MCP (`_meta["x402/payment"]`) is for the other case, a host that pays a server; a host with a
// wallet buys over HTTP.

/** Revisions that begin with a handshake, newest first. */
const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const INVALID = -32600;
const CODES = { parse: -32700, unknownMethod: -32601, invalidParams: -32602 } as const;

/** Answers one line of a host; null for what needs no answer. */
export function mcpServer(tools: readonly ShopTool[], version: string) {
  const listed = tools.map(({ name, description, parameters, pays }) => ({
    name,
    description,
    inputSchema: parameters,
    annotations: { readOnlyHint: !pays, destructiveHint: false, openWorldHint: true },
  }));
  const resultOf = async (method: string, params: JsonObject): Promise<object> => {
    switch (method) {
      case 'initialize': {
        const asked = String(params.protocolVersion);
        const protocolVersion = REVISIONS.includes(asked) ? asked : REVISIONS[0];
        const serverInfo = { name: 'signalpress', version };
        return { protocolVersion, capabilities: { tools: {} }, serverInfo };
      }
      case 'ping':
        return {};
      case 'tools/list':
        return { tools: listed };
      case 'tools/call': {
        const tool = tools.find(({ name }) => name === params.name);
        if (tool === undefined) throw fault('invalidParams', `no tool "${params.name}"`);
        const { text, isError } = await tool.run(params.arguments ?? {});
        return { content: [{ type: 'text', text }], isError };
      }
      default:
        throw fault('unknownMethod', `no method "${method}"`);
    }
  };
  return async (line: string): Promise<string | null> => {
    let message: JsonValue;
    try {
      message = parseJson(line);
    } catch (error) {
      return replied(null, { error: { code: CODES.parse, message: messageOf(error) } });
    }
    const { jsonrpc, id, method, params = {} } = isObject(message) ? message : {};
    const isCall = jsonrpc === '2.0' && typeof method === 'string' && isObject(params);
    if (!isCall) {
      const isAnswer = jsonrpc === '2.0' && method === undefined && id !== undefined;
      const error = { code: INVALID, message: 'not a request of JSON-RPC 2.0' };
      return isAnswer ? null : replied(null, { error });
    }
    // A notification: the host only tells.
    if (id === undefined) return null;
    try {
      return replied(id, { result: await resultOf(method, params) });
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      return replied(id, { error: { code: error.code, message: error.message } });
    }
  };
}

class RpcFault extends Error {
  override readonly name = 'RpcFault';
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

const fault = (name: keyof typeof CODES, message: string) => new RpcFault(message, CODES[name]);

const replied = (id: JsonValue, answer: object) =>
  JSON.stringify({ jsonrpc: '2.0', id, ...answer });
