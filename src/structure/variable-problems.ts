/**
 * Finds calculated variables whose declaration refers to a deleted variable, site or source, or to an input whose unit
 * cannot be converted any more. A run that reads a deleted variable or such an input fails. A run that reads a form
 * value of a deleted site or source gets NULL and a warning. The declaration can still be saved, because a save does
 * not check the references that the last saved declaration already has. `calculation/declaration/check-references.ts`
 * names each of the problems.
 */

import { isOffered } from './catalogue/units.ts';

/**
 * SQL condition on the table `variable`: the declaration refers to a deleted resource, or to an input whose unit cannot
 * be converted.
 */
export const HAS_PROBLEMS = `exists (
  select from declaration_reference reference
  left join variable input
    on reference.kind = 'variable' and input.id = reference.target_id and input.account_id = variable.account_id
  left join unit own on own.id = input.unit_id and ${isOffered('own', 'variable.account_id')}
  left join unit wanted on wanted.id = reference.unit_id and ${isOffered('wanted', 'variable.account_id')}
  where reference.variable_id = variable.id and case reference.kind
    when 'variable' then input.id is null or (reference.unit_id <> coalesce(input.unit_id, 0)
      and (wanted.id is null or own.unit_family_id is distinct from wanted.unit_family_id))
    when 'site' then not exists (
      select from site where id = reference.target_id and account_id = variable.account_id)
    else not exists (
      select from source where id = reference.target_id and account_id = variable.account_id)
  end)`;
