#!/usr/bin/env node
// Where the program begins. An old Node cannot read the sources behind this file: it would say SyntaxError, and not
// which Node is needed. So nothing else is imported before the version is looked at.
import { nodeFault } from './format/node-version.ts';

const fault = nodeFault('signalpress', process.versions.node);
if (fault === null) {
  import('./launch.ts').catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
} else {
  console.error(fault);
  process.exitCode = 1;
}
