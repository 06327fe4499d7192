import type { BodyCheck, BodyCheckName, CheckStatus } from '../verify/body-check.ts';

export type StepId =
  | 'readable'
  | 'signature'
  | 'issuer'
  | 'content'
  | 'record_hash'
  | 'series'
  | 'log'
  | 'logged'
  | 'revocation'
  | 'consistency'
  | 'request_time'
  | 'expect'
  | 'max_age';

/** Several checks of one kind, told to a person. */
export interface VerificationStep {
  readonly id: StepId;
  /** What holds if the step passed. */
  readonly title: string;
  readonly proves: string;
  readonly doesNotProve: string;
  /** `not_applicable`: the body holds nothing that this step is about, or nobody said whom to trust. */
  readonly status: CheckStatus;
  readonly findings: readonly BodyCheck[];
}

type Words = Pick<VerificationStep, 'title' | 'proves' | 'doesNotProve'>;

/** In the order of compiler/contract/FORMAT.md, section 11: from the text to the statement, the body and the log. */
const WORDS: Readonly<Record<StepId, Words>> = {
  readable: {
    title: 'It can be read in one way only',
    proves: 'The text is strict JSON: no name stands twice, and no number changes when it is read.',
    doesNotProve: 'That any of it is true.',
  },
  signature: {
    title: 'The signature fits the statement',
    proves: 'The owner of the named key signed this statement. Nothing in it was changed since.',
    doesNotProve: 'Who owns the key. Anybody can make one.',
  },
  issuer: {
    title: 'The signer is the issuer that you trust',
    proves: 'The key that signed is the one you named, or one that it announced.',
    doesNotProve:
      'That the issuer copied the agency correctly. Compare it with the agency’s own page.',
  },
  content: {
    title: 'The body is the one that was signed',
    proves:
      'The signed statement holds the hash of this body. One altered digit gives another hash.',
    doesNotProve: 'Members of the moment of the request, such as the age. They are checked below.',
  },
  record_hash: {
    title: 'The reading has its own fingerprint',
    proves: 'Value, time and source of the reading give exactly its record hash.',
    doesNotProve: 'That the instrument of the agency was right.',
  },
  series: {
    title: 'No row is missing',
    proves: 'Each row names the one before it, and the statement signs where the chain ends.',
    doesNotProve: 'That there was nothing before the first row.',
  },
  log: {
    title: 'The log holds it',
    proves: 'The proof leads from the hash to the root of the log that the checkpoint states.',
    doesNotProve: 'What the hash stands for. The body that you bought shows that.',
  },
  logged: {
    title: 'The log of the issuer holds it',
    proves:
      'The proof that came with it leads to a checkpoint that the issuer signed: others can see that it was published.',
    doesNotProve: 'Since when. Only a witness who signed the checkpoint too states a time.',
  },
  revocation: {
    title: 'It is older than the loss of its key',
    proves: 'The log shows that it was signed before the key was revoked.',
    doesNotProve: 'Anything about what the key signed later.',
  },
  consistency: {
    title: 'It does not contradict itself',
    proves: 'Whatever the body says twice, it says alike: times, sources, legs and classes.',
    doesNotProve: 'That two sources agree with each other.',
  },
  request_time: {
    title: 'Age and freshness follow from signed times',
    proves:
      'They change by the minute, so nobody signs them. There is one moment at which all are true.',
    doesNotProve: 'When exactly it was requested. Nothing can show that.',
  },
  expect: {
    title: 'It answers the request that you expect',
    proves: 'Operation, subject and parameters that were signed are those of your request.',
    doesNotProve: 'That nothing newer exists. Its age shows how old it is.',
  },
  max_age: {
    title: 'It is as young as you demand',
    proves: 'The time of observation that was signed lies within that age of your clock.',
    doesNotProve: 'That your clock is right.',
  },
};

const STEP_OF: Readonly<Record<BodyCheckName, StepId>> = {
  json: 'readable',
  citation: 'signature',
  anchor: 'revocation',
  cover: 'content',
  content: 'content',
  record_hash: 'record_hash',
  series: 'series',
  consistency: 'consistency',
  request_time: 'request_time',
  inclusion: 'log',
  checkpoint: 'log',
  logged: 'logged',
  expect: 'expect',
  max_age: 'max_age',
};
/** Steps that every body is told about, also where it holds nothing of the kind. */
const ALWAYS: readonly StepId[] = ['readable', 'signature', 'issuer', 'content'];
/** A proof of the log signs no body: its steps are those of the log. */
const OF_BODIES: readonly StepId[] = ['signature', 'issuer', 'content'];

/** The checks of a report as steps, in their order; a step that a body of this kind does not have is left out. */
export function verificationSteps(checks: readonly BodyCheck[]): VerificationStep[] {
  const isProof = checks.some(({ check }) => check === 'inclusion');
  const isRead = !checks.some(({ check, status }) => check === 'json' && status === 'fail');
  return (Object.keys(WORDS) as StepId[]).flatMap((id) => {
    const findings = checks.filter((check) => stepOf(check) === id);
    const isAlwaysShown = ALWAYS.includes(id) && !(isProof && OF_BODIES.includes(id));
    if (findings.length === 0 && !isAlwaysShown) return [];
    const status = id === 'readable' && isRead ? 'pass' : worst(findings);
    return [{ id, ...WORDS[id], status, findings }];
  });
}

function stepOf({ check, where }: BodyCheck): StepId {
  return check === 'citation' && where.endsWith('_citation.issuer_DID') ? 'issuer' : STEP_OF[check];
}

function worst(findings: readonly BodyCheck[]): CheckStatus {
  const has = (status: CheckStatus): boolean => findings.some((one) => one.status === status);
  if (has('fail')) return 'fail';
  return has('pass') ? 'pass' : 'not_applicable';
}
