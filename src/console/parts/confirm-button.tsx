/** A button for an action that needs a confirmation. */
import { Button, Group, Modal } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';

interface ConfirmButtonProps {
  readonly label: string;
  readonly question: string;
  readonly isBusy?: boolean;
  readonly size?: 'compact-sm' | 'sm';
  readonly onConfirm: () => void;
}

/** A button that asks `question` in a dialog before it acts. The dialog repeats `label` on the button that confirms. */
export function ConfirmButton({ label, question, isBusy = false, size = 'sm', onConfirm }: ConfirmButtonProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button variant="default" size={size} loading={isBusy} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={question} closeButtonProps={{ 'aria-label': t('confirm.cancel') }}>
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {t('confirm.cancel')}
          </Button>
          <Button
            color="red.9"
            onClick={() => {
              close();
              onConfirm();
            }}
          >
            {label}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
