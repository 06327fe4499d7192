import { existsSync } from 'node:fs';

// The bundle is the same program in fewer files, which take half the time to load (scripts/bundle-programs.ts).
const bundle = new URL('./bundle.js', import.meta.url);
if (existsSync(bundle)) await import(bundle.href);
else await import('./main.ts');
