import { request } from 'undici';
import { messageOf } from '../../../compiler/format/errors.ts';
import { networkFault } from '../../../compiler/format/network-fault.ts';
import type { ReleaseIndex } from '../../heart/release/release-index.ts';
import type { Config } from '../../settings/config.ts';
import type { TokenNode } from '../../settle/chain/chain-node.ts';
import type { PaidNetwork } from '../../settle/networks.ts';

/** What the checks look at. Nothing of it is written to, and no payment is sent. */
export interface Examined {
  readonly config: Config;
  readonly clock: () => number;
  /** Variables that look like settings and are none, in words. */
  readonly ignored: readonly string[];
  /** What remembers the log of a compile on this machine, as its setting names it; null where none is set. */
  readonly logMemory: string | null;
  /** Opens the release once for all checks; rejects with a StartError. */
  readonly release: () => Promise<ReleaseIndex>;
  /** The chain node of a network; null where none is configured. */
  readonly node: (of: PaidNetwork) => Promise<TokenNode | null>;
  readonly ask: AskWeb;
  /** Free and total bytes of the file system of a path, and whether it outlives its container and the memory. */
  readonly space: (path: string) => { free: number; total: number; isLasting: boolean };
}

/** `skipped`: the settings leave nothing to check. */
export const STATES = ['ok', 'warning', 'failed', 'skipped'] as const;

export interface Finding {
  readonly state: (typeof STATES)[number];
  readonly detail: string;
  readonly remedy?: string;
}

/** The remedy is for warnings and failures alone. */
export function finding(state: Finding['state'], detail: string, remedy: string): Finding {
  return state === 'warning' || state === 'failed' ? { state, detail, remedy } : { state, detail };
}
export const ok = (detail: string): Finding => ({ state: 'ok', detail });
export const skipped = (detail: string): Finding => ({ state: 'skipped', detail });
export const warning = (detail: string, remedy: string) => finding('warning', detail, remedy);
export const failed = (detail: string, remedy: string) => finding('failed', detail, remedy);

/** Judges a measure that should be small. */
export function graded(measure: number, okUpTo: number, failedAbove: number): Finding['state'] {
  if (measure <= okUpTo) return 'ok';
  return measure > failedAbove ? 'failed' : 'warning';
}

/** An error as a finding: after the last semicolon of its message stands what to do. */
export function failure(error: unknown): Finding {
  const text = messageOf(error);
  const cut = text.lastIndexOf('; ');
  if (cut === -1) return failed(text, 'see gatekeeper/SIGNS.md');
  return failed(text.slice(0, cut), text.slice(cut + 2));
}

/** What another service answered, with the first bytes of its body; `code` alone says why nothing came back. */
export type WebAnswer =
  | { readonly code: string }
  | {
      readonly status: number;
      readonly headers: Readonly<Record<string, string | string[] | undefined>>;
      readonly text: string;
    };

/** Sends a GET; never rejects. */
export type AskWeb = (url: string, headers?: Record<string, string>) => Promise<WebAnswer>;

const ASK_TIMEOUT_MS = 10_000;
const TEXT_BYTES_MAX = 65_536;

/** Follows no redirect, because it would lead to a host that nobody configured. */
export const ask: AskWeb = async (url, headers = {}) => {
  try {
    const signal = AbortSignal.timeout(ASK_TIMEOUT_MS);
    const answer = await request(url, { headers, signal });
    let text = '';
    for await (const part of answer.body) {
      text += String(part);
      if (text.length > TEXT_BYTES_MAX) break;
    }
    return { status: answer.statusCode, headers: answer.headers, text };
  } catch (error) {
    return { code: networkFault(error)?.words ?? messageOf(error).slice(0, 100) };
  }
};
