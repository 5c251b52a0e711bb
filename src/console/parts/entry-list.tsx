/** A list of things that people create, such as forms, mappers and webhooks. An empty list shows a hint. */
import { Button, Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Key, ReactNode } from 'react';
import { Problem } from './problem.tsx';
import classes from './view.module.css';

interface EntryListProps<Entry extends { readonly id: Key }> {
  /** Name of the list. Only screen readers present this name. */
  readonly label: string;
  readonly entries: UseQueryResult<readonly Entry[]>;
  readonly texts: { readonly none: string; readonly noneHint: string; readonly create: string };
  readonly onCreate: () => void;
  /** @returns the elements of a row. The first element takes the width that the other elements leave. */
  readonly children: (entry: Entry) => ReactNode;
}

export function EntryList<Entry extends { readonly id: Key }>({
  label,
  entries,
  texts,
  onCreate,
  children,
}: EntryListProps<Entry>) {
  const create = (
    <Button mt="sm" onClick={onCreate}>
      {texts.create}
    </Button>
  );
  if (entries.error) return <Problem error={entries.error} onRetry={() => void entries.refetch()} />;
  if (!entries.data) return <Skeleton height={200} radius="md" />;
  if (entries.data.length === 0)
    return (
      <div className={classes.empty}>
        <h2>{texts.none}</h2>
        <p>{texts.noneHint}</p>
        {create}
      </div>
    );
  return (
    <section className={classes.card} aria-label={label}>
      <ul className={classes.list}>
        {entries.data.map((entry) => (
          <li key={entry.id} className={classes.row}>
            {children(entry)}
          </li>
        ))}
      </ul>
      {create}
    </section>
  );
}
