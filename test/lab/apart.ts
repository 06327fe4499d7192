// The processes that campaigns start, measure and kill: `apart.js ROLE …`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seeded } from './campaign.ts';
import { fillDisk } from './kill/disk-full.ts';
import { compileApart, watchApart } from './kill/kill-work.ts';
import { measuredCompile } from './kill/memory.ts';

const [role = '', folder = '', first = '', second = ''] = process.argv.slice(2);
switch (role) {
  case 'child':
    await compileApart(folder, Number(first));
    break;
  case 'reader':
    await watchApart(folder, { random: seeded(Number(first)), restMs: Number(second) });
    break;
  case 'fill':
    report(await fillDisk(join(folder, 'disk'), folder, JSON.parse(first)));
    break;
  case 'memory':
    report(await measuredCompile(folder));
    break;
  default:
    throw new RangeError(`Cannot be "${role}": no such role`);
}

/** For whoever started this process. */
function report(seen: object): void {
  writeFileSync(join(folder, 'report.json'), JSON.stringify(seen));
}
