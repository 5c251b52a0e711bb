/**
 * Dictionaries of VersionTags and tag sets: each text is stored once per account, and rows contain its integer id.
 * Entries are added outside of the caller's transaction and never removed, so a cached id remains valid when the
 * transaction is rolled back.
 */
import { createHash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { openBoundedCache } from '../platform/bounded-cache.ts';
import type { Database, Queryable } from '../platform/database/database.ts';
import type { PointChunk } from './point.ts';

/** Dictionary id for the VersionTag of a point that has no VersionTag, and for the tag set of a point without tags. */
export const NO_ID = 0;

const CACHE_ENTRIES = 100_000;

export interface Dictionary {
  /** @returns the id of each VersionTag in `tags`; creates entries for unknown VersionTags (§9.2 rule 2). */
  readonly versionTagIds: (accountId: number, tags: Iterable<string>) => Promise<ReadonlyMap<string, number>>;
  /**
   * @returns the id of each tag set in `tagSets`; creates entries for unknown tag sets.
   * @param tagSets the tag sets, each as canonical JSON (`canonicalTags`).
   */
  readonly tagSetIds: (accountId: number, tagSets: Iterable<string>) => Promise<ReadonlyMap<string, number>>;
  /**
   * Finds the VersionTags and tag sets for all ids in the chunks.
   * @param queryable connection for the query; this connection must not be streaming rows. Default: the pool.
   */
  readonly labelsOf: (chunks: readonly CodedLabels[], queryable?: Queryable) => Promise<Labels>;
}

/** Columns of a chunk that hold dictionary ids. */
export type CodedLabels = Pick<PointChunk, 'versionTagIds' | 'tagSetIds'>;

/** VersionTags and tag sets by dictionary id; null for id 0 and for ids that were not requested. */
export interface Labels {
  readonly versionTag: (id: number) => string | null;
  /** @returns the tag set with this id, as JSON text: an object whose values are strings. */
  readonly tags: (id: number) => string | null;
}

interface Statements {
  readonly find: string;
  readonly insert: string;
  readonly texts: string;
}

const VERSION_TAGS: Statements = {
  find: 'select tag as key, id from version_tag where account_id = $1 and tag = any($2::text[])',
  insert: `insert into version_tag (account_id, tag) select $1, key from unnest($2::text[]) key order by key
           on conflict do nothing`,
  texts: 'select id, tag as text from version_tag where id = any($1::int[])',
};

const TAG_SETS: Statements = {
  find: `select encode(hash, 'hex') as key, id from tag_set
         where account_id = $1 and hash in (select decode(key, 'hex') from unnest($2::text[]) key)`,
  insert: `insert into tag_set (account_id, hash, tags)
           select $1, decode(key, 'hex'), tags::jsonb from unnest($2::text[], $3::text[]) entry (key, tags) order by key
           on conflict do nothing`,
  texts: 'select id, tags::text as text from tag_set where id = any($1::int[])',
};

/**
 * Opens the dictionaries of VersionTags and of tag sets, with three LRU caches of 100,000 entries each in this process.
 * `versionTagIds` and `tagSetIds` throw an Error when an entry can be neither found nor created.
 */
export function openDictionary(database: Database): Dictionary {
  const ids = openBoundedCache<string, number>(CACHE_ENTRIES);
  const versionTagCache = openBoundedCache<number, string>(CACHE_ENTRIES);
  const tagSetCache = openBoundedCache<number, string>(CACHE_ENTRIES);
  return {
    versionTagIds: (accountId, tags) =>
      findOrCreate(database, ids, VERSION_TAGS, accountId, new Map([...tags].map((tag) => [tag, null]))),
    tagSetIds: async (accountId, tagSets) => {
      const byHash = new Map([...tagSets].map((text) => [sha256(text), text]));
      const found = await findOrCreate(database, ids, TAG_SETS, accountId, byHash);
      return new Map([...byHash].map(([hash, text]) => [text, found.get(hash) as number]));
    },
    labelsOf: async (chunks, queryable = database) => {
      const wanted = (column: keyof CodedLabels) => distinctIds(chunks.map((chunk) => chunk[column]));
      const versionTags = await findTexts(queryable, versionTagCache, VERSION_TAGS, wanted('versionTagIds'));
      const tagSets = await findTexts(queryable, tagSetCache, TAG_SETS, wanted('tagSetIds'));
      return { versionTag: (id) => versionTags.get(id) ?? null, tags: (id) => tagSets.get(id) ?? null };
    },
  };
}

/**
 * Finds the given entries and creates those that are absent.
 * @param entries map of the entries. For a tag set, the key is the hash and the value is the JSON text. For a
 * VersionTag, the key is the VersionTag and the value is null.
 * @returns the id of each entry, by key.
 */
async function findOrCreate(
  database: Database,
  cache: LRUCache<string, number>,
  statements: Statements,
  accountId: number,
  entries: ReadonlyMap<string, string | null>,
): Promise<ReadonlyMap<string, number>> {
  const prefix = `${statements === TAG_SETS ? 's' : 'v'}${accountId}:`;
  const found = new Map<string, number>();
  for (const key of entries.keys()) {
    const id = cache.get(prefix + key);
    if (id !== undefined) found.set(key, id);
  }
  const findMissing = async (): Promise<string[]> => {
    const missing = [...entries.keys()].filter((key) => !found.has(key));
    if (missing.length === 0) return missing;
    const { rows } = await database.query<{ key: string; id: number }>(statements.find, [accountId, missing]);
    for (const { key, id } of rows) {
      found.set(key, id);
      cache.set(prefix + key, id);
    }
    return missing.filter((key) => !found.has(key));
  };
  const missing = await findMissing();
  if (missing.length > 0) {
    const columns = statements === TAG_SETS ? [missing, missing.map((key) => entries.get(key))] : [missing];
    await database.query(statements.insert, [accountId, ...columns]);
    // Searches again: a new statement also sees the entries that a concurrent writer has just committed.
    const [absent] = await findMissing();
    if (absent !== undefined) throw new Error(`dictionary entry ${absent} was not created`);
  }
  return found;
}

async function findTexts(
  queryable: Queryable,
  cache: LRUCache<number, string>,
  statements: Statements,
  wanted: ReadonlySet<number>,
): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  const missing: number[] = [];
  for (const id of wanted) {
    const text = cache.get(id);
    if (text === undefined) missing.push(id);
    else found.set(id, text);
  }
  if (missing.length === 0) return found;
  const { rows } = await queryable.query<{ id: number; text: string }>(statements.texts, [missing]);
  for (const { id, text } of rows) {
    found.set(id, text);
    cache.set(id, text);
  }
  return found;
}

/**
 * @returns the distinct ids of the columns, without NO_ID. Adjacent rows usually have the same labels. To save time,
 * the loop does not add an id to the set when the previous row has the same id.
 */
function distinctIds(columns: readonly Int32Array[]): ReadonlySet<number> {
  const ids = new Set<number>();
  for (const column of columns) {
    let last = NO_ID;
    for (const id of column) {
      if (id !== last) ids.add(id);
      last = id;
    }
  }
  ids.delete(NO_ID);
  return ids;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
