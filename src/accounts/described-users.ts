/** OpenAPI schemas of the users, claims, features and site access in answers (R-A9, R-C2, R-C3). */
import { z } from 'zod';
import {
  type Answer,
  answersNothing,
  idSchema,
  instantSchema,
  type Parameter,
  textId,
} from '../platform/openapi/operation.ts';
import type { ClaimOfUser } from './members/claims.ts';
import type { UserFeature } from './members/features.ts';
import type { UserInfo, UserInfoLight, UserLight } from './users/user-info.ts';

const text = z.string().nullable();
const role = z
  .object({ id: z.string(), name: z.string() })
  .meta({ id: 'Role', description: 'The id equals the name.' });

export const claimSchemaRead = z
  .object({
    id: z.literal(0),
    userId: z.string(),
    claimType: z.string().meta({ description: 'Key of the claim; unique per user and account.' }),
    claimValue: z.string(),
  })
  .meta({ id: 'UserClaim' }) satisfies z.ZodType<ClaimOfUser>;

const feature = z
  .object({ id: z.int(), name: z.string(), level: z.enum(['None', 'Read', 'Write', 'Admin']) })
  .meta({ id: 'UserFeature' }) satisfies z.ZodType<UserFeature>;
export const featuresSchemaRead = z.array(feature);

export const siteAccessSchemaRead = z
  .object({
    siteId: idSchema,
    level: z.enum(['Read', 'Write', 'Admin']),
    sourceIds: z.array(idSchema).exactOptional().meta({
      description: 'The only sources that the access includes; absent when it includes all sources of the site.',
    }),
  })
  .meta({ id: 'SiteAccessModel' });

const light = { id: z.string(), userName: z.string(), pseudo: text, firstName: text, lastName: text };
export const userInfoLightSchema = z.object(light).meta({ id: 'UserInfoLight' }) satisfies z.ZodType<UserInfoLight>;

const normal = { ...light, email: text, roles: z.array(role), businessId: text };
const userLightSchema = z.object(normal) satisfies z.ZodType<UserLight>;

const whole = {
  ...light,
  email: text,
  phoneNumber: text,
  language: z.string(),
  roles: z.array(role),
  claims: z.array(claimSchemaRead),
  features: featuresSchemaRead,
  secondaryAccesses: featuresSchemaRead,
  sites: z.array(siteAccessSchemaRead),
  businessKeys: z.object({ id: z.string(), username: z.string(), businessId: text }),
  isLocked: z.boolean(),
  lockedUntil: instantSchema.nullable(),
  accounts: z
    .array(z.object({ id: idSchema, name: z.string() }))
    .meta({ description: 'The accounts of the user, limited to those that the caller may use.' }),
  createdDate: instantSchema,
  lastLoginDate: instantSchema.nullable(),
};
export const userInfoSchema = z.object(whole).meta({ id: 'UserInfoViewModel' }) satisfies z.ZodType<UserInfo>;

/** Schema of a listed user at any display level: members that a level leaves out are optional. */
const ofAnyLevel = { ...z.object(whole).partial().shape, ...z.object(normal).partial().shape, ...light };
export const listedUserSchema = z.object(ofAnyLevel).meta({
  id: 'UserLight',
  description: `${Object.keys(userLightSchema.shape).join(', ')} at level Normal; Verbose adds members, Light omits some.`,
});
export const visibleUserSchema = z
  .object({ ...ofAnyLevel, accountIds: z.array(idSchema) })
  .meta({ id: 'UserVisibleToMe' });

export const USER_ID: Readonly<Record<string, Parameter>> = {
  userId: textId('Id of the user.', ['active-account', 'claim', 'claims']),
};

/** Describes an answer that has no body, but has the status 200 instead of 204. */
export function emptyAnswer(description: string): Answer {
  return answersNothing(description, 200);
}
