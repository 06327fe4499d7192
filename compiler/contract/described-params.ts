import type { Endpoint, Param, Params } from './endpoints.ts';

/** The parameters of an operation as every description lists them: each one, then the other names that it is taken under. */
export function describedParams({ path, params }: Endpoint): Params {
  const listed = Object.entries(params).flatMap(([name, param]) => {
    // A value that stands in the path has no other name.
    const names = path.endsWith(`/:${name}`) ? [] : (param.aliases ?? []);
    const others = names.filter((alias) => params[alias] === undefined);
    return [
      [name, param] as const,
      ...others.map((alias) => [alias, otherName(name, param)] as const),
    ];
  });
  return Object.fromEntries(listed);
}

function otherName(name: string, { type, examples }: Param): Param {
  const description = `another name of ${name}; send one of them`;
  return { type, required: false, description, examples };
}
