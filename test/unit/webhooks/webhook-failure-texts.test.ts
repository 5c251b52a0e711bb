/**
 * Tests the error messages of webhooks for failures that a test receiver on this machine cannot easily cause (R-I4).
 */
import { expect, test } from 'vitest';
import { describeFailure } from '../../../src/webhooks/sending/describe-failure.ts';

test.each(['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'])(
  'webhook failure: the text for %s names two possible causes: an untrusted authority, or missing intermediate certificates',
  (code) => {
    expect(describeFailure({ error: Object.assign(new Error('x'), { code }) }, 1000)).toMatch(
      /is not signed by a trusted authority, or the receiver does not send its intermediate certificates$/,
    );
  },
);
