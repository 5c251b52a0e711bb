/** Opens a push by its label, and lists the recent pushes that failed or that contain rejected elements. */
import { Button, Skeleton, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { Ago } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import classes from '../../parts/view.module.css';
import { Push } from './push.tsx';

/** The tab "Pushes". */
export function Pushes({ label }: { readonly label: string | undefined }) {
  const { t } = useTranslation('data');
  const navigate = useNavigate();
  const [text, setText] = useState('');
  return (
    <>
      <form
        className={`${classes.bar} ${classes.end}`}
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') void navigate({ to: '/console/data', search: { tab: 'pushes', label: text.trim() } });
        }}
      >
        <TextInput
          className={classes.grow ?? ''}
          label={t('pushes.label')}
          aria-describedby="operation-hint"
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <Button type="submit" variant="default">
          {t('pushes.open')}
        </Button>
      </form>
      <p id="operation-hint" className={`${classes.soft} ${classes.bar}`}>
        {t('pushes.labelHint')}
      </p>
      {label !== undefined && <Push key={label} label={label} />}
      <RejectedPushes />
    </>
  );
}

function RejectedPushes() {
  const { t } = useTranslation('data');
  const health = useQuery({ queryKey: ['health'], queryFn: () => bodyOf(api.GET('/account/health')) });
  if (health.error) return <Problem error={health.error} onRetry={() => void health.refetch()} />;
  if (!health.data) return <Skeleton height={160} radius="md" mt="md" />;
  const { items, count } = health.data.pushes;
  if (items.length === 0)
    return (
      <div className={classes.empty}>
        <p>{t('pushes.none')}</p>
      </div>
    );
  return (
    <section className={classes.card} aria-labelledby="rejected">
      <h2 id="rejected">{t('pushes.rejected')}</h2>
      <ul className={classes.list}>
        {items.map(({ label, date, rejectedElements, message }) => (
          <li key={label + date} className={classes.row}>
            <div>
              <Link to="/console/data" search={{ tab: 'pushes', label }}>
                <code>{label}</code>
              </Link>
              <div className={classes.soft}>
                {t('pushes.elements', { count: rejectedElements })}
                {message && ` · ${message}`}
              </div>
            </div>
            <span className={classes.soft}>
              <Ago instant={date} />
            </span>
          </li>
        ))}
      </ul>
      {items.length < count && <p className={classes.soft}>{t('pushes.first', { shown: items.length, count })}</p>}
    </section>
  );
}
