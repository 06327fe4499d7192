import type { Endpoint, Param, Params } from './endpoints.ts';

/** Longest list of legal values that a description repeats; a longer one is read in the free catalogue. */
const LEGAL_SHOWN_MAX = 24;

/** The parameters of an operation as every description lists them: each one, then the other names that it is taken under. */
export function describedParams({ path, params }: Endpoint): Params {
  const listed = Object.entries(params).flatMap(([name, param]) => {
    // A value that stands in the path has no other name.
    const names = path.endsWith(`/:${name}`) ? [] : (param.aliases ?? []);
    const others = names.filter((alias) => params[alias] === undefined);
    return [
      [name, shownParam(param)] as const,
      ...others.map((alias) => [alias, otherName(name, param)] as const),
    ];
  });
  return Object.fromEntries(listed);
}

/** A parameter without a list of values that is too long to be read in every description. */
function shownParam(param: Param): Param {
  const { enum: legal, ...open } = param;
  return legal === undefined || legal.length <= LEGAL_SHOWN_MAX ? param : open;
}

function otherName(name: string, { type, examples }: Param): Param {
  const description = `another name of ${name}; send one of them`;
  return { type, required: false, description, examples };
}
