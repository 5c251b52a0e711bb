/** Wires the user directory, the mail sender and the routes of accounts. Part of the api role. */
import { accountRoutes, profileRoutes } from '../accounts/account/account-routes.ts';
import { writeAudit } from '../accounts/audit/audit.ts';
import { clientRoutes } from '../accounts/clients/client-routes.ts';
import { accountHealthRoutes } from '../accounts/health/health-routes.ts';
import { installationRoutes } from '../accounts/installation/installation-routes.ts';
import { invitationPage } from '../accounts/invitations/invitation-page.ts';
import { invitationRoutes, registerRoutes } from '../accounts/invitations/invitation-routes.ts';
import { listingRoutes } from '../accounts/listing/listing-routes.ts';
import { ACCOUNT_MAIL_TEXTS } from '../accounts/mails/account-mail-texts.ts';
import { userMails } from '../accounts/mails/user-mails.ts';
import { claimRoutes } from '../accounts/members/claim-routes.ts';
import { membershipRoutes } from '../accounts/members/membership-routes.ts';
import type { AccountServices } from '../accounts/services.ts';
import { userRoutes } from '../accounts/users/user-routes.ts';
import type { AppParts } from '../http/create-app.ts';
import { createDirectory } from '../identity/directory/create-directory.ts';
import type { Impersonation } from '../identity/issuer/grants/token-exchange.ts';
import type { IssuerOptions } from '../identity/issuer/issuer.ts';
import { apiUrl, issuerUrl } from '../identity/issuer/issuer-url.ts';
import { PASSWORD_MAIL_TEXTS } from '../identity/passwords/password-mail-texts.ts';
import { type MailSender, startMailSender } from '../platform/mail/mail-sender.ts';
import { openMailTransport } from '../platform/mail/mail-transport.ts';
import { readBacklog } from '../platform/metrics/backlog.ts';
import { measureStorage } from '../points/columns/measure-storage.ts';
import { WEBHOOK_MAIL_TEXTS } from '../webhooks/delivery/disabled-mail-texts.ts';
import type { Parts } from './parts.ts';
import { BACKLOGS } from './watch-platform.ts';

export interface AccountRole {
  /** Routes that need an authenticated caller. */
  readonly routes: AppParts['api'];
  /** Routes without authentication. */
  readonly open: AppParts['open'];
  readonly services: AccountServices;
  /** Account services that the token issuer uses. */
  readonly issuerHooks: Pick<IssuerOptions, 'directory' | 'wakeMail' | 'invalidateAccess' | 'onImpersonation'>;
  readonly mail: MailSender;
}

/** Opens the user directory, starts the mail sender, and builds the routes of accounts and users. */
export function startAccounts(parts: Parts): AccountRole {
  const { config, database, log, accessInvalidation } = parts;
  const issuer = issuerUrl(config);
  const directory = createDirectory(config);
  const mail = startMailSender({
    database,
    transport: openMailTransport({
      smtpUrl: config.SMTP_URL,
      directory: config.MAIL_DIRECTORY,
      from: config.MAIL_FROM,
      log,
    }),
    texts: { ...ACCOUNT_MAIL_TEXTS, ...PASSWORD_MAIL_TEXTS, ...WEBHOOK_MAIL_TEXTS },
    prepare: userMails({ database, directory, issuer, apiUrl: apiUrl(config) }),
    intervalMs: config.SWEEP_INTERVAL_MS,
    log,
  });
  const { reads, readPace } = parts;
  const services: AccountServices = {
    database,
    reads,
    readPace,
    log,
    directory,
    accessInvalidation,
    wakeMail: () => mail.wake(),
  };
  const returnUrls = config.RETURN_URLS.length > 0 ? config.RETURN_URLS : [directory.signInLink()];
  const mounted = [
    accountRoutes(services),
    accountHealthRoutes(services),
    installationRoutes({
      database,
      readBacklog: () => readBacklog(database, BACKLOGS),
      measureStorage: () => measureStorage(database),
    }),
    claimRoutes(services),
    clientRoutes(services),
    listingRoutes(parts),
    membershipRoutes(services),
    profileRoutes({ directory, returnUrls }),
    userRoutes(services),
  ].map((routes) => ['/', routes] as const);
  const invitations = ['/account/invitations', invitationRoutes(services)] as const;
  return {
    routes: [...mounted, invitations],
    open: registerRoutes(services).route('/', invitationPage(services, new URL(apiUrl(config)).origin)),
    services,
    issuerHooks: {
      directory,
      wakeMail: services.wakeMail,
      invalidateAccess: (userIds) => accessInvalidation.publish(userIds),
      onImpersonation: (impersonation) => auditImpersonation(database, impersonation),
    },
    mail,
  };
}

/**
 * Writes the start of an impersonation to the audit trail of the account to which the impersonation gives access, so
 * that the managers of this account see the entry.
 */
function auditImpersonation(
  database: Parts['database'],
  { actor, user, accountId, requestId }: Impersonation,
): Promise<void> {
  const nothing = new Set<string>();
  const caller = { ...user, accountId, actor, role: 'USER', permissions: nothing, scopes: nothing, sites: [] } as const;
  const entry = { action: 'ImpersonationStarted', targetId: user.userId, targetName: user.userName } as const;
  return writeAudit(database, { caller, requestId }, entry);
}
