/**
 * Strict parser of the Prometheus text format as the product writes it: HELP, then TYPE, then the samples of one name,
 * without timestamps. A fault that scrapers tolerate, such as a repeated series, is an error.
 */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(,|$)/y;
const TYPES: ReadonlySet<string> = new Set(['counter', 'gauge', 'histogram', 'summary']);

/** @returns the families by name. @throws {Error} with the line or the family at fault. */
export function parseExposition(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the text must end with a line feed');
  const families = new Map<string, { name: string; help: string; type: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let current: { name: string; help: string; type: string; samples: Sample[] } | undefined;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, help, about] = /^# HELP (\S+) (.+)$/.exec(line) ?? [];
    const [, typed, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (help !== undefined) {
      if (families.has(help)) throw new Error(`${help} is described twice`);
      current = { name: help, help: about ?? '', type: '', samples: [] };
      families.set(help, current);
    } else if (typed !== undefined) {
      if (typed !== current?.name || current.type !== '')
        throw new Error(`TYPE must follow HELP of the same name: ${line}`);
      if (!TYPES.has(type ?? '')) throw new Error(`unknown type: ${line}`);
      current.type = type ?? '';
    } else {
      const sample = parseSample(line);
      if (!current || current.type === '' || !belongs(current, sample.name))
        throw new Error(`a sample must follow its HELP and TYPE: ${line}`);
      const key = line.slice(0, line.lastIndexOf(' '));
      if (seen.has(key)) throw new Error(`repeated series: ${line}`);
      seen.add(key);
      current.samples.push(sample);
    }
  }
  for (const family of families.values()) assertSound(family);
  return families;
}

function parseSample(line: string): Sample {
  const [, name, labelText = '', number = ''] = SAMPLE.exec(line) ?? [];
  if (name === undefined) throw new Error(`not a sample: ${line}`);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < labelText.length) {
    const [whole, label = '', value = ''] = LABEL.exec(labelText) ?? [];
    if (whole === undefined || label in labels) throw new Error(`invalid labels: ${line}`);
    labels[label] = value;
  }
  const value = /^[+-]Inf$/.test(number) ? Number(`${number}inity`) : Number(number);
  if (Number.isNaN(value) && !/^nan$/i.test(number)) throw new Error(`not a number: ${line}`);
  return { name, labels, value };
}

function belongs({ name, type }: Family, sample: string): boolean {
  if (type === 'histogram') return [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(sample);
  if (type === 'summary') return [name, `${name}_sum`, `${name}_count`].includes(sample);
  return sample === name;
}

function assertSound({ name, type, samples }: Family): void {
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0)))
    throw new Error(`${name}: a counter must be at least 0`);
  if (type !== 'histogram') return;
  const counts = new Map<string, number[]>();
  for (const { name: part, labels, value } of samples) {
    const { le, ...rest } = labels;
    const key = JSON.stringify(rest);
    if (part === `${name}_bucket`) counts.set(key, [...(counts.get(key) ?? []), value]);
    if (part === `${name}_count` && counts.get(key)?.at(-1) !== value)
      throw new Error(`${name}: the bucket +Inf must equal the count`);
    if ((part === `${name}_bucket`) !== (le !== undefined))
      throw new Error(`${name}: only buckets must have the label le`);
  }
  for (const buckets of counts.values()) {
    if (buckets.some((value, index) => value < (buckets[index - 1] ?? 0)))
      throw new Error(`${name}: buckets must be cumulative`);
  }
}

/**
 * @returns the value of the series with the name `sampleName` and all of `labels`; undefined when there is no such
 * series.
 * @throws {Error} when there are several such series.
 */
export function sampleOf(
  families: ReadonlyMap<string, Family>,
  sampleName: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = [...families.values()]
    .flatMap(({ samples }) => samples)
    .filter(({ name, labels: has }) => {
      return name === sampleName && Object.entries(labels).every(([key, value]) => has[key] === value);
    });
  if (found.length > 1)
    throw new Error(`${sampleName} ${JSON.stringify(labels)} must be one series, got ${found.length}`);
  return found[0]?.value;
}
