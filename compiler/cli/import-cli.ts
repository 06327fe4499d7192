import type { Command } from 'commander';
import { loadCatalog } from '../readings/load-catalog.ts';
import { Archive, keepPayload } from '../sources/fetch/archive.ts';
import {
  givenPayload,
  type ImportOptions,
  importDisk,
  importSummaryText,
  runImport,
} from '../sources/import-command.ts';
import { tableSource } from '../sources/kit/table-source.ts';
import { SOURCES } from '../sources/sources.ts';
import type { CommandSettings } from '../system/command-settings.ts';

type ImportFlags = Omit<ImportOptions, 'source' | 'file' | 'catalog'> & {
  readonly archive?: string;
};

export function defineImport(importer: Command, { print }: CommandSettings): void {
  for (const { id, agency } of SOURCES) {
    addImporter(importer, id, `import a payload of ${agency}`)
      .option('--archive <folder>', 'keep the payload there, to lead readings back to it')
      .action(async (file: string, { archive, ...flags }: ImportFlags) => {
        const { catalog } = loadCatalog(flags.out);
        const options = { source: id, file, catalog, ...flags };
        print(importSummaryText(runImport(options, importDisk)));
        if (archive === undefined) return;
        await keepPayload(new Archive(archive), id, givenPayload(options, importDisk));
      });
  }
  for (const format of ['csv', 'json'] as const) {
    const about = `import any other table in ${format.toUpperCase()}, by a map of its columns`;
    addImporter(importer, format, about)
      .requiredOption('--map <file>', 'what its columns are: compiler/sources/README.md')
      .action((file: string, { map, ...flags }: ImportFlags & { readonly map: string }) => {
        const { catalog } = loadCatalog(flags.out);
        const source = tableSource(format, { bytes: importDisk.readFile(map), file: map, catalog });
        print(importSummaryText(runImport({ source, file, catalog, ...flags }, importDisk)));
      });
  }
}

function addImporter(importer: Command, id: string, description: string): Command {
  return importer
    .command(id)
    .description(description)
    .argument('<file>', 'file with the payload')
    .option('--note <file>', 'fetch note: {"url", "fetched_at", "http_status", "bytes"?}')
    .option('--fetched-at <time>', 'time of the fetch, instead of a note')
    .option('--out <folder>', 'folder of batches', 'snapshots');
}

/** An example by command; a source without one of its own is imported like all others. */
export function importExamples(): Readonly<Record<string, readonly string[]>> {
  const examples = SOURCES.map(({ id, format }) => {
    const name = `${id}.${format === 'text' ? 'txt' : format}`;
    return [`import ${id}`, [`signalpress import ${id} ${name} --note ${id}.note.json`]] as const;
  });
  return Object.fromEntries(examples);
}
