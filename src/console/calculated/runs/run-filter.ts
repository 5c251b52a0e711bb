/** The filter of the list of runs, and its parameters in the URL of the route. Pure. */
export const RUN_STATES = ['Running', 'Succeeded', 'Failed', 'Abandoned'] as const;
export const RUN_TRIGGERS = ['Input', 'Schedule', 'ForceUpdate', 'Form'] as const;
/** Matches a value of `<input type="datetime-local">`. */
const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;

export interface RunFilter {
  readonly state?: (typeof RUN_STATES)[number];
  readonly trigger?: (typeof RUN_TRIGGERS)[number];
  /** Earliest and latest start of the runs, in the local time of the source. */
  readonly from?: string;
  readonly to?: string;
}

/** Keeps the valid parameters of a URL and drops the others. */
export function parseRunFilter(given: Readonly<Record<string, unknown>>): RunFilter {
  const state = RUN_STATES.find((each) => each === given.state);
  const trigger = RUN_TRIGGERS.find((each) => each === given.trigger);
  const dates = (['from', 'to'] as const).flatMap((name) =>
    typeof given[name] === 'string' && LOCAL.test(given[name]) ? [[name, given[name]]] : [],
  );
  return { ...(state && { state }), ...(trigger && { trigger }), ...Object.fromEntries(dates) };
}
