import type { JsonValue } from '../contract/strict-json.ts';
import { isObject } from './object-nodes.ts';
import { differing, type Related, rowsOf } from './relation.ts';

/** The form of a roster whose rows have their pre-images with them. */
const FORM = /^verifiable\/(.+)$/;
/** What a form says of itself. */
const OWN = new Set(['_citation', 'record_hash_verifiable']);

/** Compares the thin or verifiable form of a body with its usual form. */
export function checkForm(form: Related): void {
  const [, usualPath] = FORM.exec(form.path) ?? [];
  if (usualPath === undefined) return;
  const usual = form.bodies.get(usualPath);
  if (usual === 'absent') form.fault('', `has no usual form "${usualPath}"`);
  if (usual === 'absent' || usual === 'damaged') return;
  const body = Object.fromEntries(
    Object.entries(form.body).map(([name, value]) => [name, withoutCores(value)]),
  );
  for (const name of differing(body, usual, OWN)) {
    form.fault(name, 'differs from the usual form');
  }
  form.count('forms');
}

/** Rows as the usual form has them. */
function withoutCores(value: JsonValue): JsonValue {
  const rows = rowsOf(value);
  if (!Array.isArray(value) || rows.length !== value.length) return value;
  return value.map((row) => {
    if (!isObject(row)) return row;
    const { _hash_core, ...shown } = row;
    return shown;
  });
}
