import type { JsonObject } from '../../compiler/contract/strict-json.ts';
import { TOOL_ARGUMENT_CHARS_MAX } from '../../compiler/contract/tools.ts';
import type { Shop } from './shop.ts';

/** A text that a person may start a model with. */
interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly argument: { readonly name: string; readonly description: string };
  readonly text: (value: string, shop: Shop) => string;
}

const PROMPTS: readonly Prompt[] = [
  {
    name: 'find_and_buy',
    title: 'Find and buy a reading',
    description: 'From a question in words to a bought and verified record',
    argument: { name: 'question', description: 'what you want to know, in your own words' },
    text: (question) =>
      `Find an official reading that answers this: ${question}\n` +
      'Call search with the subject and the place. Choose the result that answers it, or say that none does. ' +
      'Call quote with its request and tell the price. Buy only if the user agrees: send the GET over HTTP, sign accepts[0] ' +
      'of the 402, and send the same GET with X-PAYMENT. Answer from the body alone, with observed_at, and check its ' +
      'record_hash with verify_citation.',
  },
  {
    name: 'verify_record',
    title: 'Verify a record',
    description: 'Whether a citation or record of this service holds',
    argument: { name: 'record_hash', description: 'its record_hash' },
    text: (hash, { baseUrl }) =>
      `Check the record ${hash}. Call verify_citation with it and tell what it attests, and whether it is current or ` +
      `superseded. Whoever holds the whole body sends it to POST ${baseUrl}/verify, which is free.`,
  },
];

/** The members of `prompts/list`. */
export function promptList(): object {
  const prompts = PROMPTS.map(({ name, title, description, argument }) => {
    return { name, title, description, arguments: [{ ...argument, required: true }] };
  });
  return { prompts };
}

/** The members of `prompts/get`; a text that says what is wrong with the parameters. */
export function promptText({ name, arguments: given }: JsonObject, shop: Shop): object | string {
  const prompt = PROMPTS.find((one) => one.name === name);
  if (prompt === undefined) {
    return `Unknown prompt; send one of ${PROMPTS.map((one) => one.name).join(', ')}`;
  }
  const { argument, description } = prompt;
  const value = (given as JsonObject | undefined)?.[argument.name];
  if (typeof value !== 'string' || value === '' || value.length > TOOL_ARGUMENT_CHARS_MAX) {
    return `argument "${argument.name}" is not a text of 1 to ${TOOL_ARGUMENT_CHARS_MAX} characters; send ${argument.description}`;
  }
  const content = { type: 'text', text: prompt.text(value, shop) };
  return { description, messages: [{ role: 'user', content }] };
}
