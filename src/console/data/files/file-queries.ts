/** The query for the state of one file, and the list of the files that were sent from this browser. */
import { api, bodyOf } from '../../api/client.ts';
import { useFollowed } from '../../api/follow.ts';
import type { components } from '../../api/openapi.d.ts';
import { readDraft, writeDraft } from '../../parts/draft.ts';
import type { Tone } from '../../parts/state.tsx';

export type FileStatus = components['schemas']['FileStatus'];

/** @returns true when no ingestion of the file is waiting or in progress. */
export function isFileOver({ state }: Pick<FileStatus, 'state'>): boolean {
  return state !== 'Queued' && state !== 'Processing';
}

/** @returns a query for a file's state. The query updates its data until the ingestion ends. */
export function useFile(id: string) {
  return useFollowed<FileStatus>({
    queryKey: ['file', id],
    read: () => bodyOf(api.GET('/storage/{id}', { params: { path: { id } } })),
    events: `/storage/${encodeURIComponent(id)}/events`,
    isOver: isFileOver,
  });
}

export const TONES: Readonly<Record<FileStatus['state'], Tone>> = {
  Queued: 'plain',
  Processing: 'plain',
  Completed: 'good',
  PartiallyIngested: 'warn',
  Rejected: 'bad',
  Failed: 'bad',
  Stored: 'plain',
};

export interface SentFile {
  readonly id: string;
  readonly name: string;
  readonly date: string;
}

const MAX_SENT = 20;
/** The API lists only files with errors, so the browser remembers the files it sent. */
const keyOf = (userId: string, accountId: number | undefined) => `sent-files.${userId}.${accountId}`;

/** @returns the last 20 files that the user sent to the account from this browser, newest first. */
export function sentFiles(userId: string, accountId: number | undefined): readonly SentFile[] {
  return readDraft<readonly SentFile[]>(keyOf(userId, accountId)) ?? [];
}

/** Remembers a file that was sent. */
export function addSentFile(userId: string, accountId: number | undefined, file: SentFile): void {
  writeDraft(keyOf(userId, accountId), [file, ...sentFiles(userId, accountId)].slice(0, MAX_SENT));
}

/** The files sent since the page was loaded, by file id. The page can show their rows without a download. */
export const heldFiles = new Map<string, Blob>();
