import type { Progress } from './progress.ts';
import type { Stack } from './stack.ts';

/** Called once the roles are ready. Nothing is loaded yet; the demo's data and closing lines belong here. */
export async function loadDemo(_stack: Stack, _options: DemoOptions): Promise<void> {}

export interface DemoOptions {
  readonly progress: Progress;
  /** CSV of half-hourly electricity demand: a comment line, a heading, then `date,demand_mw`; undefined without R. */
  readonly taylorCsv: string | undefined;
}
