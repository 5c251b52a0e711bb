/** Actions of the audit trail that can be searched for. The type checks that each is one of the API's. */
import type { components } from '../../api/openapi.d.ts';

export type Action = components['schemas']['AuditEntry']['action'];

export const ACTIONS = [
  ...['AccountCreated', 'AccountUpdated', 'UserCreated', 'UserUpdated', 'UserDeleted', 'UserLocked', 'UserUnlocked'],
  ...['PasswordResetRequested', 'ClaimsAdded', 'ClaimsEdited', 'ClaimsRemoved', 'FeaturesChanged'],
  ...['SecondaryAccessesChanged', 'SitesGranted', 'SitesRevoked', 'UserAddedToAccount', 'UserRemovedFromAccount'],
  ...['InvitationCreated', 'InvitationResent', 'InvitationDeleted', 'InvitationAccepted', 'ImpersonationStarted'],
  ...['MapperCreated', 'MapperUpdated', 'MapperDeleted', 'WebhookCreated', 'WebhookUpdated', 'WebhookDeleted'],
  ...['WebhookReplayed', 'WebhookTested', 'SiteDeleted', 'SourceDeleted', 'VariableDeleted', 'PointsDeleted'],
  ...['VersionsPurged', 'ViewCreated', 'ViewUpdated', 'ViewDeleted', 'ClientCreated', 'ClientSecretReplaced'],
  ...['SigningKeyAdded', 'BatchesRetried'],
] as readonly Action[] as Action[];
