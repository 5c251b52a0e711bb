/** What clients write of a test (R-I7): the fields of a webhook, of which no name is needed, and `data` to send. */
import { z } from 'zod';
import { isStorableJson, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { lenientObject } from '../../platform/http/lenient.ts';
import { newWebhookShape } from '../administration/webhook-schema.ts';
import type { TargetPolicy } from '../sending/target-url-rules.ts';

export function trialSchema(policy: TargetPolicy) {
  const { name, ...shape } = newWebhookShape(policy);
  return lenientObject({
    ...shape,
    name: name.nullish().transform((given) => given ?? 'test'),
    /** Of who tries out a webhook as they read it: it lends its secret, see createTrial. */
    id: z
      .unknown()
      .optional()
      .transform((id) => (typeof id === 'string' ? id.toLowerCase() : null))
      .meta({ description: 'Of a webhook with the same address: it is signed with the secret of that one.' }),
    data: z
      .unknown()
      .optional()
      .refine(isStorableJson, { error: STORABLE_RULE })
      .transform((data) => data ?? null)
      .meta({ description: 'What is told; without it an example of the type.' }),
  });
}

export type NewTrial = z.output<ReturnType<typeof trialSchema>>;
