import { existsSync } from 'node:fs';

// The bundle is the same program in fewer files, which load in a third of the time (scripts/bundle-programs.ts).
const bundle = new URL('./bundle/cli.js', import.meta.url);
if (existsSync(bundle)) await import(bundle.href);
else await import('./cli/cli.ts');
