/** What is wrong with one file of a release; `where` is a member, a line or ''. */
export interface ReleaseFault {
  readonly file: string;
  readonly where: string;
  readonly detail: string;
}

/** Faults that are kept; more are only counted. */
export const FAULTS_MAX = 100;

/** The first faults of a part, and how many there are. */
interface GatheredFaults {
  readonly faults: readonly ReleaseFault[];
  readonly faultCount: number;
}

/** Gathers faults in memory that does not grow with them. */
export class Faults {
  readonly kept: ReleaseFault[] = [];
  count = 0;

  add(file: string, where: string, detail: string): void {
    this.count += 1;
    if (this.kept.length < FAULTS_MAX) this.kept.push({ file, where, detail });
  }

  /** Takes over what was gathered elsewhere. */
  addAll({ faults, faultCount }: GatheredFaults): void {
    this.count += faultCount;
    this.kept.push(...faults.slice(0, FAULTS_MAX - this.kept.length));
  }

  /** Takes over what was gathered elsewhere about files that are not named yet. */
  addUnnamed({ kept }: Faults): void {
    const named = new Set(this.kept.map(({ file }) => file));
    for (const { file, where, detail } of kept) if (!named.has(file)) this.add(file, where, detail);
  }
}
