// Tables that sort by a click on a heading, and leave as text or CSV.
import { Child, copyButton, h, saveButton, shown, short } from './dom';

export interface Cell { text: string; value?: number | string | null; mark?: string }
export interface Column<Row> { name: string; cell: (row: Row) => Cell | string; number?: boolean }

const cellOf = (c: Cell | string): Cell => (typeof c === 'string' ? { text: c, value: c } : c);

/** A field that a spreadsheet takes as text: quotes around what has a separator, nothing that starts a formula. */
function csvField(value: unknown): string {
  let text = shown(value);
  if (typeof value === 'string' && /^[=+\-@]/.test(text)) text = "'" + text;
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function table<Row>(caption: string, columns: Column<Row>[], rows: Row[], file: string): HTMLElement {
  let order = rows, sorted = -1, up = true;
  const body = h('tbody');
  const heads = columns.map((column, i) => h('th', { scope: 'col', class: column.number ? 'number' : '' },
    h('button', { type: 'button', class: 'sort', onclick: () => sort(i) }, column.name)));
  const raw = (row: Row, c: Column<Row>): unknown => { const cell = cellOf(c.cell(row)); return cell.value ?? cell.text; };
  const text = (separator: string, field: (v: unknown) => string) =>
    [columns.map((c) => field(c.name)), ...order.map((row) => columns.map((c) => field(raw(row, c))))]
      .map((line) => line.join(separator)).join('\n') + '\n';

  function fill(): void {
    body.replaceChildren(...order.map((row) => h('tr', {}, ...columns.map((column, i): Child => {
      const cell = cellOf(column.cell(row));
      const attributes = { class: [column.number ? 'number' : '', cell.mark ?? ''].join(' ').trim() || null };
      return i === 0 ? h('th', { scope: 'row', ...attributes }, short(cell.text, 200)) : h('td', attributes, short(cell.text, 600));
    }))));
  }
  function sort(i: number): void {
    up = sorted === i ? !up : !columns[i].number || sorted !== i;
    sorted = i;
    order = [...rows].sort((a, b) => {
      const x = raw(a, columns[i]), y = raw(b, columns[i]);
      const less = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', { numeric: true });
      return up ? less : -less;
    });
    heads.forEach((head, k) => k === i ? head.setAttribute('aria-sort', up ? 'ascending' : 'descending') : head.removeAttribute('aria-sort'));
    fill();
  }
  fill();
  return h('div', { class: 'table' },
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
      h('table', {}, h('caption', {}, caption), h('thead', {}, h('tr', {}, ...heads)), body)),
    h('div', { class: 'tools' }, copyButton('Copy', () => text('\t', (v) => shown(v).replace(/[\t\n]/g, ' '))),
      saveButton('CSV', file + '.csv', 'text/csv', () => text(',', csvField))));
}
