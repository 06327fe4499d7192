// Ends the build in one sentence on a Node that is too old.
import { nodeFault } from '../compiler/format/node-version.ts';

const fault = nodeFault('Signalpress', process.versions.node);
if (fault !== null) {
  console.error(fault);
  process.exitCode = 1;
}
