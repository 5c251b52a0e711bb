/** The bar below the fields of a draft: save and discard buttons, and a note that the browser keeps the draft. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './view.module.css';

interface SaveBarProps {
  /** True when the draft has unsaved changes. */
  readonly isChanged: boolean;
  /** True when nothing has been saved yet: an unchanged draft can then be saved too. */
  readonly isNew?: boolean;
  readonly isBusy: boolean;
  /** Text of the save button; absent means Save. */
  readonly label?: string;
  /** Called by the save button; absent means that the button submits its form. */
  readonly onSave?: () => void;
  readonly onDiscard: () => void;
  /** Further buttons. */
  readonly children?: ReactNode;
}

export function SaveBar({ isChanged, isNew = false, isBusy, label, onSave, onDiscard, children }: SaveBarProps) {
  const { t } = useTranslation();
  return (
    <div className={classes.bar}>
      <Button
        type={onSave ? 'button' : 'submit'}
        disabled={!isChanged && !isNew}
        loading={isBusy}
        {...(onSave && { onClick: onSave })}
      >
        {label ?? t('draft.save')}
      </Button>
      {isChanged && (
        <Button variant="default" onClick={onDiscard}>
          {t('draft.discard')}
        </Button>
      )}
      {children}
      {isChanged && <span className={classes.soft}>{t('draft.unsaved')}</span>}
    </div>
  );
}
