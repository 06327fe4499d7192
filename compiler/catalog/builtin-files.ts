import abbreviations from './builtin/abbreviations.json' with { type: 'json' };
import agriculture from './builtin/agriculture.json' with { type: 'json' };
import aliases from './builtin/aliases.json' with { type: 'json' };
import borderWait from './builtin/border-wait.json' with { type: 'json' };
import drought from './builtin/drought.json' with { type: 'json' };
import drugDetail from './builtin/drug-detail.json' with { type: 'json' };
import drugShortage from './builtin/drug-shortage.json' with { type: 'json' };
import earthquake from './builtin/earthquake.json' with { type: 'json' };
import environment from './builtin/environment.json' with { type: 'json' };
import filing from './builtin/filing.json' with { type: 'json' };
import grid from './builtin/grid.json' with { type: 'json' };
import gridReliability from './builtin/grid-reliability.json' with { type: 'json' };
import hurricane from './builtin/hurricane.json' with { type: 'json' };
import lifeCycles from './builtin/life-cycles.json' with { type: 'json' };
import markets from './builtin/markets.json' with { type: 'json' };
import nas from './builtin/nas.json' with { type: 'json' };
import prices from './builtin/prices.json' with { type: 'json' };
import rulers from './builtin/rulers.json' with { type: 'json' };
import severeConvection from './builtin/severe-convection.json' with { type: 'json' };
import shipping from './builtin/shipping.json' with { type: 'json' };
import units from './builtin/units.json' with { type: 'json' };
import wildfire from './builtin/wildfire.json' with { type: 'json' };
import register from './register.json' with { type: 'json' };

// Nothing but imports and lists may stand here: scripts/inline-json.ts writes the files into the module that is built,
// since Node 20 warns of every program that imports JSON.

/** The files of the built-in catalogue, in the order of the specification; the tests hold them to their format. */
export const BUILTIN_FILES: readonly unknown[] = [
  environment,
  agriculture,
  grid,
  shipping,
  filing,
  wildfire,
  nas,
  borderWait,
  earthquake,
  hurricane,
  drought,
  drugShortage,
  drugDetail,
  severeConvection,
  gridReliability,
  lifeCycles,
  markets,
  units,
  rulers,
  prices,
  aliases,
  abbreviations,
];

/** The rows of the register of sources, by id; `register.ts` holds them to their format. */
export const REGISTER_ROWS: readonly unknown[] = register;
