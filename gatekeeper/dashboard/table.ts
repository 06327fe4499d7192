import { defined } from '../../compiler/contract/defined.ts';
import { type Html, type HtmlPart, html } from '../../compiler/contract/html.ts';

/** Heading of a column: of text, or of numbers. */
type TableColumn = string | { readonly number: string };

interface PageTable {
  readonly caption?: string;
  readonly columns: readonly TableColumn[];
  /** Cells by column; the first one names the row. */
  readonly rows: readonly (readonly HtmlPart[])[];
}

/** A table that scrolls within itself where it is wider than the page. */
export function table({ caption, columns, rows }: PageTable): Html {
  const heads = columns.map((column) => {
    return typeof column === 'string'
      ? html`<th scope="col">${column}</th>`
      : html`<th scope="col" class="n">${column.number}</th>`;
  });
  const body = rows.map(([name, ...cells]) => {
    const rest = cells.map(
      (cell, at) => html`${cellOf(cell, defined(columns[at + 1], 'the column'))}`,
    );
    return html`<tr><th scope="row">${defined(name, 'a name')}</th>${rest}</tr>\n`;
  });
  const title = caption === undefined ? null : html`<caption>${caption}</caption>`;
  return html`<div class="wide" tabindex="0" role="group" aria-label="${caption ?? 'Details'}"><table>${title}<thead><tr>${heads}</tr></thead><tbody>
${body}</tbody></table></div>`;
}

function cellOf(cell: HtmlPart, column: TableColumn): Html {
  return typeof column === 'string' ? html`<td>${cell}</td>` : html`<td class="n">${cell}</td>`;
}

/** A part of the page under its own heading. */
export function section(title: string, content: HtmlPart): Html {
  return html`<section><h2>${title}</h2>${content}</section>\n`;
}
