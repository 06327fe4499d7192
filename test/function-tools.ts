interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
}
interface FunctionParameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header' | 'cookie';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}
interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly parameters?: readonly FunctionParameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  };
}
/** As much of an OpenAPI document as function tools are made of. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Names that agent frameworks give to the parameters of a place. */
const ARGUMENTS = { query: 'params', path: 'path_params', header: 'headers', cookie: 'cookies' };

/**
 * The function tools of a document, one for each operation, as agent frameworks make them of OpenAPI: the operation's id
 * and description, and its parameters grouped by their place in the request.
 */
export function functionTools({ paths }: OpenApiDocument): object[] {
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  return operations.map((operation) => ({
    type: 'function',
    function: {
      name: operation.operationId,
      description: operation.description,
      parameters: { type: 'object', properties: groups(operation) },
    },
  }));
}

function groups({ parameters = [], requestBody }: Operation): Readonly<Record<string, object>> {
  const places = Object.entries(ARGUMENTS).flatMap(([place, name]) => {
    const own = parameters.filter((parameter) => parameter.in === place);
    return own.length === 0 ? [] : [[name, grouped(own)] as const];
  });
  const body = requestBody?.content['application/json']?.schema;
  return { ...Object.fromEntries(places), ...(body === undefined ? {} : { json: body }) };
}

function grouped(parameters: readonly FunctionParameter[]): object {
  const properties = parameters.map(({ name, schema, description }) => {
    return [name, { ...schema, description }] as const;
  });
  const required = parameters.filter((each) => each.required === true).map(({ name }) => name);
  return { type: 'object', properties: Object.fromEntries(properties), required };
}
