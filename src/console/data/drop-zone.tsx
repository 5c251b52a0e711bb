/** Drop zone for one file, which can also be chosen with the keyboard. */
import { Button } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Icon } from '../shell/icon.tsx';
import classes from './data.module.css';

interface DropZoneProps {
  /** Accepted file extensions, such as `.csv,.xlsx`. */
  readonly accept: string;
  readonly hint: string;
  readonly onFile: (file: File) => void;
}

/** A field for one file. When several files are dropped, it takes the first. */
export function DropZone({ accept, hint, onFile }: DropZoneProps) {
  const { t } = useTranslation('data');
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null) => {
    const file = files?.[0];
    if (file) onFile(file);
  };
  return (
    <section
      className={classes.drop}
      aria-label={t('drop.title')}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer.files);
      }}
    >
      <Icon name="push" size={28} />
      <p className={classes.dropTitle}>{t('drop.title')}</p>
      <p className={classes.hint}>{hint}</p>
      <Button variant="default" onClick={() => input.current?.click()}>
        {t('drop.choose')}
      </Button>
      <input
        ref={input}
        type="file"
        accept={accept}
        hidden
        onChange={({ currentTarget }) => {
          take(currentTarget.files);
          // Allows the same file to be chosen again after it was corrected.
          currentTarget.value = '';
        }}
      />
    </section>
  );
}
