import {
  decodeUtf8,
  isObject,
  JsonError,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../compiler/contract/strict-json.ts';

/** Codes of JSON-RPC 2.0, and those that revision 2026-07-28 adds. */
const RPC_ERRORS = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  /** Of the handshake era; the stateless revision takes it for a wrong parameter. */
  noResource: -32002,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;
export type RpcErrorName = keyof typeof RPC_ERRORS;

export type RpcId = string | number;

/** One message of a client as far as it is understood. */
type RpcMessage =
  | {
      readonly kind: 'request';
      readonly id: RpcId;
      readonly method: string;
      readonly params: JsonObject;
    }
  | { readonly kind: 'notification' }
  /** An answer to a question that nobody here has asked. */
  | { readonly kind: 'response' }
  | { readonly kind: 'invalid'; readonly id: RpcId | null; readonly why: string };
export type RpcRequest = Extract<RpcMessage, { kind: 'request' }>;

/** One answer; `name` says what kind of error it is. */
export type RpcAnswer =
  | { readonly id: RpcId; readonly result: object }
  /** A result whose members are JSON text already. */
  | { readonly id: RpcId; readonly members: string }
  | {
      readonly id: RpcId | null;
      readonly name: RpcErrorName;
      readonly message: string;
      readonly data?: object;
    };

/** The value of a body, or a string that says what is wrong if it is not strict JSON. */
export function bodyValue(
  body: Buffer,
): { readonly value: JsonValue } | { readonly fault: string } {
  try {
    return { value: parseJson(decodeUtf8(body)) };
  } catch (error) {
    if (error instanceof JsonError) return { fault: error.message };
    throw error;
  }
}

/** Classifies one value of a body; an invalid message keeps its id, so that its sender can match the error. */
export function rpcMessage(value: JsonValue): RpcMessage {
  if (!isObject(value)) return { kind: 'invalid', id: null, why: 'the message is not an object' };
  const { jsonrpc, id, method, params = {} } = value;
  const known = isId(id) ? id : null;
  const invalid = (why: string): RpcMessage => ({ kind: 'invalid', id: known, why });
  if (jsonrpc !== '2.0') return invalid('jsonrpc is not "2.0"');
  if (method === undefined) {
    const answers = known !== null && ('result' in value || 'error' in value);
    return answers ? { kind: 'response' } : invalid('method is missing');
  }
  if (typeof method !== 'string') return invalid('method is not a string');
  if (!isObject(params)) return invalid('params is not an object');
  if (id === undefined) return { kind: 'notification' };
  if (known === null) return invalid('id is not a string or a whole number');
  return { kind: 'request', id: known, method, params };
}

function isId(id: JsonValue | undefined): id is RpcId {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

/** An answer as the wire shows it. */
export function rpcText(answer: RpcAnswer): string {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(answer.id)}`;
  if ('members' in answer) return `${head},"result":{${answer.members}}}`;
  if ('result' in answer) return `${head},"result":${JSON.stringify(answer.result)}}`;
  const { name, message, data } = answer;
  const error = { code: RPC_ERRORS[name], message, ...(data === undefined ? {} : { data }) };
  return `${head},"error":${JSON.stringify(error)}}`;
}
