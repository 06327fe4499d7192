#!/usr/bin/env node
// Where the program begins. An old Node cannot read the sources behind this file: it would say SyntaxError, and not
// which Node is needed. So nothing else is imported before the version is looked at.
import { nodeProblem } from './contract/node-version.ts';

const problem = nodeProblem('signalpress', process.versions.node);
if (problem === null) {
  import('./launch.ts').catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
} else {
  console.error(problem);
  process.exitCode = 1;
}
