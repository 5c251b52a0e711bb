/**
 * Schema of a trial send (R-I7): the fields of a new webhook, the `id` of a stored webhook, and the `data` to send. The
 * members `name`, `id` and `data` are optional.
 */
import { z } from 'zod';
import { isStorableJson, STORABLE_RULE } from '../../platform/database/storable-text.ts';
import { lenientObject } from '../../platform/http/lenient.ts';
import { newWebhookShape } from '../administration/webhook-schema.ts';
import type { TargetPolicy } from '../sending/target-url.ts';

/** Schema of the body of a trial send (R-I7). @param policy the URLs and addresses that receivers may have. */
export function trialSchema(policy: TargetPolicy) {
  const { name, ...shape } = newWebhookShape(policy);
  return lenientObject({
    ...shape,
    name: name.nullish().transform((given) => given ?? 'test'),
    /** Id of a stored webhook whose secret signs the trial send (see `createTrial` in trial-routes.ts). */
    id: z
      .unknown()
      .optional()
      .transform((id) => (typeof id === 'string' ? id.toLowerCase() : null))
      .meta({
        description:
          'Id of a stored webhook with the same `url`. When `secret` is absent, the secret of the stored webhook signs the message.',
      }),
    data: z
      .unknown()
      .optional()
      .refine(isStorableJson, { error: STORABLE_RULE })
      .transform((data) => data ?? null)
      .meta({
        description:
          'Data of the message. When `data` is absent, the message contains example data for the event type.',
      }),
  });
}

export type NewTrial = z.output<ReturnType<typeof trialSchema>>;
