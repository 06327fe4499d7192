import type { Conclusion, Journal, JournalEntry } from '../money/journal.ts';

/** Settlements that are kept at most; beyond them the chain must be asked, as after a crash. */
const KEPT_SETTLEMENTS_MAX = 10_000;

type KeptSettlement = Conclusion & { readonly transaction: string };

/**
 * A journal that remembers settlements which could not be written, and writes them as soon as that works:
 * a full disk must not turn what is known to be paid into a doubt. What it remembers ends with the process.
 */
export function keepingSettlements(journal: Journal): Journal {
  const kept = new Map<string, KeptSettlement>();
  /** Whether nothing is left to write under a key. */
  const write = async (settlement: KeptSettlement): Promise<boolean> => {
    try {
      await journal.conclude(settlement);
    } catch {
      if (isOpen(await journal.find(settlement.key))) return false;
    }
    return kept.delete(settlement.key);
  };
  return {
    ...journal,
    async conclude(conclusion) {
      try {
        await journal.conclude(conclusion);
      } catch (error) {
        if (isSettlement(conclusion) && kept.size < KEPT_SETTLEMENTS_MAX) {
          kept.set(conclusion.key, conclusion);
        }
        throw error;
      }
    },
    async find(key) {
      const settlement = kept.get(key);
      if (settlement === undefined || (await write(settlement))) return journal.find(key);
      const entry = await journal.find(key);
      const { state, transaction, settledMs = null } = settlement;
      return entry === null ? null : { ...entry, state, transaction, settledMs };
    },
    async unresolved(after, limit) {
      for (const settlement of [...kept.values()]) {
        // The next ones would fail like this one.
        if (!(await write(settlement))) break;
      }
      const open = await journal.unresolved(after, limit);
      return open.filter(({ key }) => !kept.has(key));
    },
  };
}

function isSettlement(conclusion: Conclusion): conclusion is KeptSettlement {
  return conclusion.state === 'settled' && conclusion.transaction !== undefined;
}

function isOpen(entry: JournalEntry | null): boolean {
  return entry?.state === 'settling' || entry?.state === 'unknown';
}
