/** Chooses a unit, or none. */
import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';

interface UnitPickerProps {
  readonly label: string;
  readonly placeholder?: string;
  readonly value: number | null;
  readonly onChange: (unitId: number | null) => void;
}

/** A search box for the units that the account may use. The user searches for a unit by name or symbol. */
export function UnitPicker({ value, onChange, ...shown }: UnitPickerProps) {
  const units = useQuery({ queryKey: ['units'], queryFn: () => bodyOf(api.GET('/units')), staleTime: 300_000 });
  return (
    <Select
      {...shown}
      searchable
      clearable
      // A click before the options arrive would leave the list closed, so the field is disabled until then.
      disabled={!units.data}
      data={(units.data ?? []).map(({ id, name, symbol }) => ({
        value: String(id),
        label: symbol && symbol !== name ? `${name} (${symbol})` : name,
      }))}
      value={value === null ? null : String(value)}
      onChange={(unitId) => onChange(unitId === null ? null : Number(unitId))}
    />
  );
}
