/** Generated from the API description by test/unit/house/console-types.test.ts; do not edit. */

export interface paths {
  "/account/user/accounts": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listMyAccounts"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/user/active-account/{accountId}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["setActiveAccount"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/user/signOut": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["signOutEverywhere"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/user/updatePasswordLink": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getUpdatePasswordLink"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    Account: {
      /** Format: date-time */
      createdDate?: string;
      currency?: string | null;
      emailSettings?: {
        replyTo: string | null;
        senderName: string | null;
      };
      id?: number;
      language?: string;
      name?: string;
      siteCount?: number;
      smsSettings?: {
        senderName: string | null;
      };
      sourceCount?: number;
      timeZoneId?: string;
      userCount?: number;
      variableCount?: number;
      versionLimit?: number;
    };
    Error: {
      /** @enum {string} */
      code: "invalid_input" | "malformed_json" | "api_version_unsupported" | "invalid_token" | "insufficient_scope" | "permission_denied" | "mapping_failed" | "not_found" | "conflict" | "calculation_cycle" | "gone" | "body_too_large" | "unsupported_media_type" | "rate_limited" | "internal_error" | "queue_full" | "dependency_unavailable";
      details?: components["schemas"]["Problem"][];
      message: string;
      requestId: string;
    };
    Problem: {
      message: string;
      path: string;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  listMyAccounts: {
    parameters: {
      query?: {
        SubscriptionId?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Account"][];
        };
      };
    };
  };
  setActiveAccount: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        accountId: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  signOutEverywhere: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  getUpdatePasswordLink: {
    parameters: {
      query?: {
        returnUrl?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            /** Format: uri */
            link: string;
          };
        };
      };
    };
  };
}
