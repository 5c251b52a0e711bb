/** Tests the error that the dictionary throws when the database does not return an entry after its insertion. */
import { describe, expect, test } from 'vitest';
import type { Database } from '../../../src/platform/database/database.ts';
import { openDictionary } from '../../../src/points/dictionary.ts';

const ACCOUNT = 7;

describe('points: the dictionary of VersionTags and tag sets', () => {
  test('throws when the database does not return an entry after its insertion', async () => {
    const queries: string[] = [];
    const query = async (text: string) => {
      queries.push(text);
      return { rows: [] };
    };
    const dictionary = openDictionary({ query } as unknown as Database);
    await expect(dictionary.versionTagIds(ACCOUNT, ['final'])).rejects.toThrow(
      'dictionary entry final was not created',
    );
    await expect(dictionary.tagSetIds(ACCOUNT, ['{"a":"b"}'])).rejects.toThrow(
      /^dictionary entry \w{64} was not created$/,
    );
    expect(queries.filter((text) => text.startsWith('insert'))).toHaveLength(2);
  });
});
