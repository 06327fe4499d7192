import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { headerOf } from '../config/settings.ts';
import { readOwnFile } from '../system/plain-file.ts';
import { StartError } from '../system/start-error.ts';
import type { FacilitatorAuth } from './remote-facilitator.ts';

/** Longest module that is loaded. */
const MODULE_BYTES_MAX = 16_777_216;

/** Characters that a header may hold without becoming two headers. */
const headersSchema = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
  z.string().regex(/^[\x20-\x7e]*$/),
);
const moduleSchema = z.object({
  authHeaders: z.custom<(call: Parameters<FacilitatorAuth>[0]) => unknown>(
    (value) => typeof value === 'function',
  ),
});

interface AuthSettings {
  /** `Name: value`, the same with every call. */
  readonly header: string | null;
  /** Path of a module that exports an async function `authHeaders({ method, url })`. */
  readonly module: string | null;
}

/** The headers that the settings ask for; undefined when they ask for none. */
export async function facilitatorAuth({
  header,
  module,
}: AuthSettings): Promise<FacilitatorAuth | undefined> {
  if (module !== null) return moduleAuth(module);
  if (header === null) return undefined;
  const headers = headerOf(header);
  return async () => headers;
}

async function moduleAuth(path: string): Promise<FacilitatorAuth> {
  let loaded: unknown;
  try {
    // A loader would wait for a pipe for ever.
    readOwnFile(path, MODULE_BYTES_MAX);
    loaded = await import(pathToFileURL(resolve(path)).href);
  } catch (cause) {
    throw new StartError(
      `Cannot load SIGNALPRESS_FACILITATOR_AUTH_MODULE "${path}": it does not load; give a JavaScript module`,
      { cause },
    );
  }
  const parsed = moduleSchema.safeParse(loaded);
  if (!parsed.success) {
    throw new StartError(
      `Cannot use SIGNALPRESS_FACILITATOR_AUTH_MODULE "${path}": no function "authHeaders"; export one`,
    );
  }
  const { authHeaders } = parsed.data;
  return async (call) => headersSchema.parse(await authHeaders(call));
}
