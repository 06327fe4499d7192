// Ends the build in one sentence on a Node that is too old.
import { nodeProblem } from '../compiler/contract/node-version.ts';

const problem = nodeProblem('Signalpress', process.versions.node);
if (problem !== null) {
  console.error(problem);
  process.exitCode = 1;
}
