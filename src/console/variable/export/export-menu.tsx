/** Saves the shown points as files, or copies to the clipboard the text of a program that reads these points. */
import { Button, Menu } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { savePoints } from '../../api/download.ts';
import { copyText } from '../../parts/copy-text.ts';
import { settings } from '../../session/settings.ts';
import { Icon } from '../../shell/icon.tsx';
import { notifyDone, notifyProblem } from '../../shell/notify.ts';
import { type Shown, toExports } from './export-rules.ts';
import { type Language, toSnippet } from './snippets.ts';

const FORMATS = { csv: 'CSV', xlsx: 'Excel', arrow: 'Arrow', parquet: 'Parquet' } as const;
const LANGUAGES: readonly Language[] = ['curl', 'R', 'Python'];

/**
 * Menu that exports the points of the chart.
 * @param shown what the chart shows: variables, period and versions.
 * @param name beginning of each file name.
 */
export function ExportMenu({ shown, name }: { readonly shown: Shown; readonly name: string }) {
  const { t } = useTranslation();
  const save = async (format: string) => {
    try {
      for (const { path, query, part } of toExports(shown, new Date().toISOString())) {
        const title = part === undefined ? name : `${name} ${part}`;
        await savePoints(path, { ...query, format }, `${title.replaceAll(/[^\p{L}\p{N}]+/gu, '-')}.${format}`);
      }
    } catch (error) {
      notifyProblem(error);
    }
  };
  const copy = async (language: Language) => {
    await copyText(toSnippet(language, settings.api, toExports(shown, new Date().toISOString())));
    notifyDone(t('export.copied', { language }));
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="download" size={16} />}>
          {t('export.title')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('export.file')}</Menu.Label>
        {Object.entries(FORMATS).map(([format, label]) => (
          <Menu.Item key={format} onClick={() => void save(format)}>
            {label}
          </Menu.Item>
        ))}
        <Menu.Label>{t('export.program')}</Menu.Label>
        {LANGUAGES.map((language) => (
          <Menu.Item key={language} leftSection={<Icon name="copy" size={15} />} onClick={() => void copy(language)}>
            {t('export.copyAs', { language })}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
