import { DRUGS } from '../../../contract/entities.ts';

/** Classes as the list writes them, with the ids of this line; other classes are left out. */
export const CLASSES: ReadonlyMap<string, string> = new Map([
  ['Anesthesia', 'anesthesia'],
  ['Oncology', 'oncology'],
  ['Psychiatry', 'psychiatry-cns'],
  ['Analgesia/Addiction', 'analgesia-opioid'],
  ['Anti-Infective', 'anti-infective'],
  ['Cardiovascular', 'cardiovascular'],
  ['Neurology', 'neurology'],
  ['Gastroenterology', 'gastroenterology'],
  ['Endocrinology/Metabolism', 'endocrine'],
  ['Hematology', 'hematology'],
  ['Pulmonary/Allergy', 'pulmonary-allergy'],
  ['Ophthalmology', 'ophthalmology'],
]);

/** Signs of a product of several drugs; a comma also stands before a dosage form. */
const COMBINED = /[;/]|,(?! (?:for|powder|extended|delayed)\b)|\b(?:and|with|in)\b/;

/** Whether a generic name in lower case names several drugs, and not one in some salt and dosage form. */
export function isCombined(name: string): boolean {
  return COMBINED.test(name);
}

/** The drug of this line that a generic name in lower case begins with, or undefined. */
export function drugOf(name: string): string | undefined {
  return DRUGS.find((drug) => {
    const words = drug.replaceAll('-', ' ');
    return name.startsWith(words) && !/[a-z]/.test(name.charAt(words.length));
  });
}
