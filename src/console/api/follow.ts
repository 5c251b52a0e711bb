/**
 * Follows a resource while the server works on it: reads the resource, updates the copy in the query cache from the
 * event stream, and reads the resource again when the stream ends.
 */
import { type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { readEvents } from './event-stream.ts';

/** Pause after the stream has ended or failed, before the next attempt to open the stream. */
const RETRY_MS = 2000;

interface Followed<Status> {
  readonly queryKey: QueryKey;
  readonly read: () => Promise<Status>;
  /** Path of the event stream. */
  readonly events: string;
  /** Returns true when the server's work has ended. The caller must pass the same function at each render. */
  readonly isOver: (status: Status) => boolean;
}

/** @returns the query of the resource. The hook updates the query's data until the server's work ends. */
export function useFollowed<Status>({ queryKey, read, events, isOver }: Followed<Status>) {
  const queries = useQueryClient();
  const query = useQuery({ queryKey, queryFn: read });
  const isOpen = query.data !== undefined && !isOver(query.data);
  const key = JSON.stringify(queryKey);
  useEffect(() => {
    if (!isOpen) return;
    const end = new AbortController();
    let timer: number | undefined;
    const follow = async () => {
      try {
        for await (const { data } of readEvents(events, end.signal)) {
          const status = JSON.parse(data) as Status;
          // Events carry only some members of the resource, so the whole resource is read again after the last event.
          if (isOver(status)) break;
          queries.setQueryData<Status>(JSON.parse(key) as QueryKey, (old) => old && { ...old, ...status });
        }
      } catch {
        // When the server cannot be reached, the read below fails too and shows why.
      }
      if (end.signal.aborted) return;
      await queries.invalidateQueries({ queryKey: JSON.parse(key) as QueryKey });
      timer = window.setTimeout(() => void follow(), RETRY_MS);
    };
    void follow();
    return () => {
      end.abort();
      window.clearTimeout(timer);
    };
  }, [isOpen, isOver, events, key, queries]);
  return query;
}
