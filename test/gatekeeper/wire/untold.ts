import { ServiceState, type Trouble } from '../../../gatekeeper/wire/service-state.ts';

/** A state that nobody reads. */
export function untoldState(): ServiceState {
  return new ServiceState({ clock: Date.now, log: () => undefined });
}

/** A reason that nobody hears of. */
export const UNTOLD: Trouble = { since: null, begin: () => undefined, end: () => undefined };
