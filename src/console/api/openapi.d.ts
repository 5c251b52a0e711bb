/** Generated from the API description by test/unit/house/console-types.test.ts; do not edit. */

export interface paths {
  "/account": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getAccount"];
    put: operations["updateAccount"];
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/audit": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listAudit"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/features": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listAccountFeatures"];
    put?: never;
    post: operations["createFeature"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/features/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations["updateFeature"];
    post?: never;
    delete: operations["deleteFeature"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/health": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getAccountHealth"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/invitations": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listInvitations"];
    put?: never;
    post: operations["createInvitation"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/invitations/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getInvitation"];
    put?: never;
    post?: never;
    delete: operations["deleteInvitation"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/invitations/{id}/resend": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["resendInvitation"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/mappers": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listMappers"];
    put?: never;
    post: operations["createMapper"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/mappers/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getMapper"];
    put: operations["updateMapper"];
    post?: never;
    delete: operations["deleteMapper"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/mappers/test": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["tryExpression"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/retention": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getAccountRetention"];
    put: operations["putAccountRetention"];
    post?: never;
    delete: operations["deleteAccountRetention"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/retention/preview": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["previewAccountRetention"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/user/{userId}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getUser"];
    put?: never;
    post: operations["saveUser"];
    delete: operations["deleteUser"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/user/{userId}/claims/add": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["addDataPusherClaim"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/user/{userId}/claims/remove": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["removeDataPusherClaims"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/user/{userId}/features": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listUserFeatures"];
    put?: never;
    post: operations["saveUserFeatures"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/user/{userId}/lock": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["lockUser"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/user/{userId}/resetpassword": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["resetPassword"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/user/{userId}/secondaryAccesses": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listUserSecondaryAccesses"];
    put?: never;
    post: operations["saveUserSecondaryAccesses"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/user/{userId}/sites": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["grantSites"];
    delete: operations["revokeSites"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
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
  "/account/user/claims/add": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["addClaim"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/user/claims/edit": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations["editClaim"];
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/user/claims/remove": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete: operations["removeClaims"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/user/create": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["createUser"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/usermapping": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listUserMapping"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/users": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listUsers"];
    put?: never;
    post: operations["postUserSearch"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/webhooks": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listWebhooks"];
    put?: never;
    post: operations["createWebhook"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/webhooks/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getWebhook"];
    put: operations["updateWebhook"];
    post?: never;
    delete: operations["deleteWebhook"];
    options?: never;
    head?: never;
    patch: operations["patchWebhook"];
    trace?: never;
  };
  "/account/webhooks/{id}/history": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listWebhookHistory"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/webhooks/{id}/history/{historyId}/replay": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["replayWebhook"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/webhooks/test": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["testWebhook"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/account/webhooks/test/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getWebhookTest"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/admin/clients": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listClients"];
    put?: never;
    post: operations["createClient"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/admin/clients/{clientId}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations["updateClient"];
    post?: never;
    delete: operations["deleteClient"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/admin/clients/{clientId}/secret": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["replaceClientSecret"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/admin/operate": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getInstallation"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/admin/signingKeys": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listSigningKeys"];
    put?: never;
    post: operations["createSigningKey"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/data": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["pushData"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/data/targets": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listTargets"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/operations/{label}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getOperation"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/operations/{label}/rejected": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listRejectedElements"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/operations/{label}/replay": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["replayRejectedElements"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/calculated/instants": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listScheduleInstants"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/data": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["readPoints"];
    put?: never;
    post: operations["queryPoints"];
    delete: operations["deletePoints"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/data/compare": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["compareVersions"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/data/origins": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["findOrigins"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/deletions/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getDeletion"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/energyTypes": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listEnergyTypes"];
    put?: never;
    post: operations["createEnergyType"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/energyTypes/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations["updateEnergyType"];
    post?: never;
    delete: operations["deleteEnergyType"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/energyUsages": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listEnergyUsages"];
    put?: never;
    post: operations["createEnergyUsage"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/energyUsages/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations["updateEnergyUsage"];
    post?: never;
    delete: operations["deleteEnergyUsage"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/form": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listForms"];
    put?: never;
    post: operations["createForm"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/form/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getForm"];
    put: operations["updateForm"];
    post?: never;
    delete: operations["deleteForm"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/form/{id}/values": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listFormValues"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/languages": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listLanguages"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/runs/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getRun"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/runs/{id}/wave": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getWave"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/sites": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listSites"];
    put?: never;
    post: operations["createSite"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/sites/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getSite"];
    put: operations["updateSite"];
    post?: never;
    delete: operations["deleteSite"];
    options?: never;
    head?: never;
    patch: operations["patchSite"];
    trace?: never;
  };
  "/sitetypes": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listSiteTypes"];
    put?: never;
    post: operations["createSiteType"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/sitetypes/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations["updateSiteType"];
    post?: never;
    delete: operations["deleteSiteType"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/sources": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listSources"];
    put?: never;
    post: operations["createSource"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/sources/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getSource"];
    put: operations["updateSource"];
    post?: never;
    delete: operations["deleteSource"];
    options?: never;
    head?: never;
    patch: operations["patchSource"];
    trace?: never;
  };
  "/sources/{sourceId}/variables/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations["updateVariable"];
    post?: never;
    delete: operations["deleteVariable"];
    options?: never;
    head?: never;
    patch: operations["patchVariable"];
    trace?: never;
  };
  "/sources/{sourceId}/variables/{id}/calculated/evaluate": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["evaluateCalculation"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/sources/{sourceId}/variables/{id}/calculated/history": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listDeclarations"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/sources/{sourceId}/variables/{id}/calculated/validate": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["validateCalculation"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/sourceTypes": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listSourceTypes"];
    put?: never;
    post: operations["createSourceType"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/sourceTypes/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations["updateSourceType"];
    post?: never;
    delete: operations["deleteSourceType"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/storage/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getFile"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/structure/import/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getImport"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/structure/import/{id}/rows": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listImportedRows"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/timezones": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listTimeZones"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/unitFamily": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listUnitFamilies"];
    put?: never;
    post: operations["createUnitFamily"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/unitFamily/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations["updateUnitFamily"];
    post?: never;
    delete: operations["deleteUnitFamily"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/units": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listUnits"];
    put?: never;
    post: operations["createUnit"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/units/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations["updateUnit"];
    post?: never;
    delete: operations["deleteUnit"];
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
  "/variables": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listVariables"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/variables/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getVariable"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/variables/{id}/forceUpdate": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["forceUpdateVariable"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/variables/{id}/retention": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getVariableRetention"];
    put: operations["putVariableRetention"];
    post?: never;
    delete: operations["deleteVariableRetention"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/variables/{id}/retention/preview": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["previewVariableRetention"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/variables/{id}/runs": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listRuns"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/variables/{id}/stopUpdate": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post: operations["stopUpdateVariable"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/variables/{id}/updateState": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["getUpdateState"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/variables/{id}/versions": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listVersions"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/variables/source/{sourceId}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listVariablesOfSource"];
    put?: never;
    post: operations["createVariable"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/variables/types": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get: operations["listVariableTypes"];
    put?: never;
    post: operations["createVariableType"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/variables/types/{id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put: operations["updateVariableType"];
    post?: never;
    delete: operations["deleteVariableType"];
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
    AccountHealth: {
      calculations: {
        count: number;
        items: {
          /** Format: date-time */
          date: string;
          message: string | null;
          name: string;
          runId: number;
          siteName: string;
          sourceName: string;
          variableId: number;
        }[];
      };
      /** Format: date-time */
      checkedDate: string;
      files: {
        count: number;
        items: {
          /** Format: date-time */
          date: string;
          filename: string;
          id: string;
          message: string | null;
          rejectedRows: number;
          state: string;
        }[];
      };
      pushes: {
        count: number;
        items: {
          /** Format: date-time */
          date: string;
          label: string;
          message: string | null;
          rejectedElements: number;
          state: string;
        }[];
      };
      variables: {
        empty: number;
        silent: {
          count: number;
          items: {
            granularity: number;
            /** @enum {string} */
            granularityTimeBase: "Millisecond" | "Second" | "Minute" | "Hour" | "Day" | "Week" | "Month" | "Year";
            /** Format: date-time */
            lastDate: string;
            name: string;
            siteName: string;
            sourceName: string;
            variableId: number;
          }[];
        };
        total: number;
        watched: number;
      };
      waiting: {
        calculations: number;
        files: number;
        oldestPushSeconds: number;
        pushes: number;
      };
      webhooks?: {
        count: number;
        items: {
          /** Format: date-time */
          disabledDate: string | null;
          id: string;
          name: string;
          reason: string | null;
        }[];
      };
    };
    AccountWritten: {
      currency?: string | null;
      emailSettings?: {
        replyTo?: string | null;
        senderName?: string | null;
      } | null;
      language?: string;
      name?: string;
      smsSettings?: {
        senderName?: string | null;
      } | null;
      timeZoneId?: string;
      versionLimit?: number;
    };
    AuditEntry: {
      accountId: number | null;
      /** @enum {string} */
      action: "AccountCreated" | "AccountUpdated" | "UserCreated" | "UserUpdated" | "UserDeleted" | "UserLocked" | "UserUnlocked" | "PasswordResetRequested" | "ClaimsAdded" | "ClaimsEdited" | "ClaimsRemoved" | "FeaturesChanged" | "SecondaryAccessesChanged" | "SitesGranted" | "SitesRevoked" | "UserAddedToAccount" | "UserRemovedFromAccount" | "InvitationCreated" | "InvitationResent" | "InvitationDeleted" | "InvitationAccepted" | "ImpersonationStarted" | "MapperCreated" | "MapperUpdated" | "MapperDeleted" | "WebhookCreated" | "WebhookUpdated" | "WebhookDeleted" | "WebhookReplayed" | "WebhookTested" | "SiteDeleted" | "SourceDeleted" | "VariableDeleted" | "FormCreated" | "FormUpdated" | "FormDeleted" | "CatalogueEntryCreated" | "CatalogueEntryUpdated" | "CatalogueEntryDeleted" | "PointsDeleted" | "VersionsPurged" | "RetentionSaved" | "RetentionRemoved" | "PointsRolledUp" | "ViewCreated" | "ViewUpdated" | "ViewDeleted" | "ClientCreated" | "ClientSecretReplaced" | "ClientUpdated" | "ClientDeleted" | "SigningKeyAdded" | "BatchesRetried";
      /** Format: date-time */
      date: string;
      details: {
        [key: string]: unknown;
      };
      id: number;
      impersonator: {
        userId: string;
        userName: string;
      } | null;
      requestId: string | null;
      targetId: string | null;
      targetName: string | null;
      userId: string;
      userName: string;
    };
    Client: {
      clientId: string;
      /** Format: date-time */
      createdDate: string;
      grantTypes: string[];
      isBuiltIn: boolean;
      isEnabled: boolean;
      isPublic: boolean;
      logoutUris: string[];
      name: string | null;
      /** Format: date-time */
      previousSecretUntil: string | null;
      redirectUris: string[];
      scopes: string[];
      /** Format: date-time */
      secretDate: string | null;
    };
    ClientSecretReplacement: {
      overlapHours?: number | null;
    };
    ClientUpdate: {
      grantTypes?: ("password" | "refresh_token" | "authorization_code" | "urn:ietf:params:oauth:grant-type:token-exchange")[] | null;
      isEnabled?: boolean | null;
      logoutUris?: string[] | null;
      name?: string | null;
      redirectUris?: string[] | null;
      scopes?: ("datahub-api" | "push-data")[] | null;
    };
    ClientWithSecret: {
      clientId: string;
      /** Format: date-time */
      createdDate: string;
      grantTypes: string[];
      isBuiltIn: boolean;
      isEnabled: boolean;
      isPublic: boolean;
      logoutUris: string[];
      name: string | null;
      /** Format: date-time */
      previousSecretUntil: string | null;
      redirectUris: string[];
      scopes: string[];
      secret?: string;
      /** Format: date-time */
      secretDate: string | null;
    };
    ClientWritten: {
      clientId: string;
      grantTypes?: ("password" | "refresh_token" | "authorization_code" | "urn:ietf:params:oauth:grant-type:token-exchange")[] | null;
      isPublic?: boolean | null;
      logoutUris?: string[] | null;
      name?: string | null;
      redirectUris?: string[] | null;
      scopes?: ("datahub-api" | "push-data")[] | null;
    };
    Comparison: {
      /** Format: date-time */
      historyFrom?: string;
      /** Format: date-time */
      rawFrom?: string;
      rows: {
        /** Format: date-time */
        date: string;
        difference: number | null;
        leftValue: number | null;
        rightValue: number | null;
      }[];
      summary: {
        added: number;
        changed: number;
        meanAbsoluteDifference: number | null;
        points: number;
        removed: number;
      };
      unitId: number | null;
      variableId: number;
    };
    DateRange: {
      from?: (string | number) | null;
      to?: (string | number) | null;
    };
    Declaration: {
      calculatedVariableFormulas?: {
        constants?: {
          alias: string;
          value?: number | string | boolean | null;
        }[] | null;
        entities?: {
          alias: string;
          canBeUsedAsATrigger?: boolean | null;
          /** @enum {string} */
          entityType: "Site" | "Source";
          path: string;
          siteId?: number | null;
          sourceId?: number | null;
        }[] | null;
        formula?: string | null;
        schedule?: ("" | string | {
          cron: string;
          timeZoneId?: string | null;
        }) | null;
        validFrom?: (string | number) | null;
        validUntil?: (string | number) | null;
        variables?: {
          /** @enum {string|null} */
          aggregation?: "SUM" | "MIN" | "MAX" | "AVG" | "COUNT" | "VAR" | "STDEV" | null;
          alias: string;
          /** @enum {string|null} */
          alignTo?: "Day" | "Week" | "Month" | "Year" | null;
          asOf?: (string | number) | null;
          canBeUsedAsATrigger?: boolean | null;
          fromAbsolutePeriod?: (string | number) | null;
          /** @enum {string|null} */
          granularity?: "Raw" | "Minute" | "Hour" | "Day" | "Month" | "Year" | "All" | "Week" | null;
          horizon?: string | null;
          period?: number | null;
          /** @enum {string|null} */
          periodTimeBase?: "Millisecond" | "Second" | "Minute" | "Hour" | "Day" | "Week" | "Month" | "Year" | null;
          /** @enum {string|null} */
          periodType?: "RelativeDate" | "AbsoluteDate" | "LastNPoints" | null;
          relativeVersion?: string | null;
          tags?: (string | string[]) | null;
          toAbsolutePeriod?: (string | number) | null;
          unitId?: number | null;
          variableId: number;
          version?: (string | string[]) | null;
        }[] | null;
      }[] | null;
      friendlyName?: string | null;
      note?: string | null;
    };
    DeclarationSave: {
      calculated: {
        [key: string]: unknown;
      } | null;
      /** Format: date-time */
      date: string | null;
      declarationHash: string | null;
      id: number;
      impersonator: {
        userId: string;
        userName: string;
      } | null;
      note: string | null;
      userId: string | null;
      userName: string | null;
    };
    Deletion: {
      /** Format: uuid */
      id: string;
      /** @enum {string} */
      kind: "Site" | "Source" | "Variable";
      pointsPending: number;
      /** Format: date-time */
      requestedDate: string;
      /** @enum {string} */
      state: "Running" | "Completed";
      targetId: number;
      targetName: string;
      userName: string;
      variables: {
        deleted: number;
        total: number;
      };
    };
    EnergyTypeChange: {
      name?: string;
    };
    EnergyTypeWritten: {
      name: string;
    };
    EnergyUsageChange: {
      name?: string;
    };
    EnergyUsageWritten: {
      name: string;
    };
    Error: {
      /** @enum {string} */
      code: "invalid_input" | "malformed_json" | "api_version_unsupported" | "invalid_token" | "insufficient_scope" | "permission_denied" | "mapping_failed" | "not_found" | "conflict" | "calculation_cycle" | "gone" | "body_too_large" | "unsupported_media_type" | "rate_limited" | "internal_error" | "queue_full" | "dependency_unavailable";
      details?: components["schemas"]["Problem"][];
      message: string;
      requestId: string;
    };
    Evaluation: {
      call: string | null;
      counts: {
        dropped: number;
        merged: number;
        outside: number;
        read: number;
        returned: number;
        wouldStore: number;
      };
      defaultVersion: string;
      durationsMs: {
        load?: number;
        r?: number;
        sandboxWait?: number;
        store?: number;
        wait?: number;
      };
      errors: string[];
      formulas: {
        forms: {
          alias: string;
          value: unknown;
        }[];
        formula: number;
        /** Format: date-time */
        from: string;
        /** Format: date-time */
        to: string;
        /** Format: date-time */
        triggerDate: string;
      }[];
      /** Format: date-time */
      from: string;
      inputs: {
        aggregation?: string;
        alias: string;
        alignTo?: string;
        /** Format: date-time */
        asOf?: string;
        formula: number;
        /** Format: date-time */
        from: string | null;
        granularity?: string;
        /** Format: date-time */
        historyFrom?: string;
        horizon?: string;
        /** Format: date-time */
        lastVersionTimestamp: string | null;
        points: number;
        /** Format: date-time */
        rawFrom?: string;
        relativeVersion?: string;
        tags?: string[];
        /** Format: date-time */
        to: string | null;
        variableId: number;
        version?: string | string[];
      }[];
      isSeriesCut: boolean;
      limit: string | null;
      line: number | null;
      message: string | null;
      messages: string[];
      outcome: string;
      output: string;
      plots: {
        data: string;
        /** @enum {string} */
        format: "svg" | "png";
        name: string;
      }[];
      series: {
        /** Format: date-time */
        date: string;
        tags?: {
          [key: string]: string;
        };
        value: number;
        version?: string;
      }[];
      signal: (string | number) | null;
      /** Format: date-time */
      to: string;
      /** Format: date-time */
      triggerDate: string;
      warnings: string[];
    };
    FeatureChange: {
      name?: string;
    };
    FeatureWritten: {
      name: string;
    };
    FileStatus: {
      advice?: string;
      /** Format: date-time */
      completedDate?: string;
      counts: {
        ingested: number;
        rejected: number;
        rows: number;
        warnings: number;
      };
      errors: components["schemas"]["RowError"][];
      failure?: {
        code: string;
        message: string;
      };
      filename: string;
      /** @enum {string} */
      format?: "csv" | "xlsx";
      id: string;
      ignoredColumns: string[];
      /** @enum {string} */
      kind: "StandardFile" | "Attachment";
      progress: {
        bytes: number;
        rows: number;
        totalBytes: number;
      };
      /** Format: date-time */
      startedDate?: string;
      /** @enum {string} */
      state: "Queued" | "Processing" | "Completed" | "PartiallyIngested" | "Rejected" | "Failed" | "Stored";
      /** Format: date-time */
      uploadedDate: string;
      warnings?: components["schemas"]["RowWarning"][];
    };
    FilledForm: {
      id: number;
      name: string;
      problems?: {
        message: string;
        path: string;
      }[];
      siteId?: number;
      sourceId?: number;
      values: {
        [key: string]: unknown;
      };
    };
    Form: {
      /** Format: date-time */
      createdDate: string;
      /** @enum {string} */
      entityType: "Site" | "Source" | "Variable";
      groups: {
        fields: {
          description?: string | null;
          isList?: boolean | null;
          isRequired?: boolean | null;
          items?: {
            name?: string | null;
            value: string | number | boolean;
          }[] | null;
          maximum?: number | null;
          minimum?: number | null;
          name: string;
          /** @enum {string} */
          type: "String" | "Int" | "Double" | "Boolean" | "Date";
          unitId?: number | null;
        }[];
        name: string;
      }[];
      id: number;
      /** Format: date-time */
      modifiedDate: string;
      name: string;
    };
    FormChange: {
      /** @enum {string|null} */
      entityType?: "Site" | "Source" | "Variable" | null;
      groups?: {
        fields: {
          description?: string | null;
          isList?: boolean | null;
          isRequired?: boolean | null;
          items?: {
            name?: string | null;
            value: string | number | boolean;
          }[] | null;
          maximum?: number | null;
          minimum?: number | null;
          name: string;
          /** @enum {string} */
          type: "String" | "Int" | "Double" | "Boolean" | "Date";
          unitId?: number | null;
        }[];
        name: string;
      }[] | null;
      name?: string | null;
    };
    FormWritten: {
      /** @enum {string} */
      entityType: "Site" | "Source" | "Variable";
      groups: {
        fields: {
          description?: string | null;
          isList?: boolean | null;
          isRequired?: boolean | null;
          items?: {
            name?: string | null;
            value: string | number | boolean;
          }[] | null;
          maximum?: number | null;
          minimum?: number | null;
          name: string;
          /** @enum {string} */
          type: "String" | "Int" | "Double" | "Boolean" | "Date";
          unitId?: number | null;
        }[];
        name: string;
      }[];
      name: string;
    };
    ImportCounts: {
      changed: number;
      created: number;
      left: number;
    };
    ImportedRow: {
      /** @enum {string} */
      action: "Created" | "Changed" | "Left";
      changes?: {
        [key: string]: {
          from: unknown;
          to: unknown;
        };
      };
      id: number | null;
      /** @enum {string} */
      kind: "catalogues" | "forms" | "sites" | "sources" | "variables";
      place: string;
    };
    ImportProblem: {
      message: string;
      path: string;
    };
    ImportResult: {
      /** Format: date-time */
      completedDate?: string;
      counts: {
        catalogues: components["schemas"]["ImportCounts"];
        forms: components["schemas"]["ImportCounts"];
        sites: components["schemas"]["ImportCounts"];
        sources: components["schemas"]["ImportCounts"];
        variables: components["schemas"]["ImportCounts"];
      };
      failure?: {
        code: string;
        message: string;
      };
      /** @enum {string} */
      format: "json" | "xlsx";
      id: string;
      ignoredMembers: string[];
      problemCount: number;
      problems: components["schemas"]["ImportProblem"][];
      progress: {
        bytes: number;
        /** @enum {string} */
        phase: "Waiting" | "Reading" | "Comparing" | "Writing" | "Ended";
        rows: number;
        totalBytes: number;
      };
      /** Format: date-time */
      startedDate?: string;
      /** @enum {string} */
      state: "Queued" | "Processing" | "Completed" | "Refused" | "Failed";
      /** Format: date-time */
      uploadedDate: string;
      userName: string;
      whatIf: boolean;
    };
    Installation: {
      busiestAccounts: {
        accountId: number;
        accountName: string;
        pushes: number;
        readings: number;
        rejectedElements: number;
        runs: number;
        runSeconds: number;
      }[];
      /** Format: date-time */
      checkedDate: string;
      clients: {
        clientId: string;
        /** Format: date-time */
        createdDate: string;
        grantTypes: string[];
        isPublic: boolean;
        scopes: string[];
      }[];
      roles: {
        connections: number;
        roles: string;
        /** Format: date-time */
        since: string;
      }[];
      runs: {
        examined: number;
        failed: number;
        medianSeconds: number | null;
        medianWaitSeconds: number | null;
        p95Seconds: number | null;
        running: number;
        succeeded: number;
      };
      signingKeys: {
        algorithm: string;
        /** Format: date-time */
        createdDate: string;
        kid: string;
        /** @enum {string} */
        state: "active" | "retired";
      }[];
      slowestScripts: {
        accountId: number;
        accountName: string;
        meanSeconds: number;
        name: string;
        runs: number;
        totalSeconds: number;
        variableId: number;
      }[];
      storage: {
        accountId: number | null;
        accountName: string | null;
        bytes: number;
        points: number;
      }[] | null;
      waiting: {
        [key: string]: number;
      };
    };
    Invitation: {
      /** Format: date-time */
      acceptedDate: string | null;
      claims: {
        claimType: string;
        claimValue: string;
      }[];
      /** Format: date-time */
      createdDate: string;
      email: string;
      /** Format: date-time */
      expiresDate: string | null;
      firstName: string | null;
      id: string;
      language: string;
      lastName: string | null;
      /** @enum {string} */
      role: "ADMIN" | "MANAGER" | "USER";
      /** Format: date-time */
      sentDate: string | null;
      sites: {
        /** @enum {string} */
        level: "Read" | "Write" | "Admin";
        siteId: number;
        sourceIds?: number[] | null;
      }[];
      /** @enum {string} */
      state: "Waiting" | "Sent" | "Expired" | "Accepted";
    };
    InvitationWritten: {
      claims?: {
        claimType: string;
        claimValue: string;
        userId?: string | null;
      }[] | null;
      email: string;
      firstName?: string | null;
      language?: string | null;
      lastName?: string | null;
      /** @enum {string|null} */
      role?: "ADMIN" | "MANAGER" | "USER" | null;
      roles?: ("ADMIN" | "MANAGER" | "USER")[] | null;
      sites?: {
        /** @enum {string} */
        level: "Read" | "Write" | "Admin";
        siteId: number;
        sourceIds?: number[] | null;
      }[] | null;
    };
    JsonPatch: ({
      /** @constant */
      op: "add";
      path: string;
      value: unknown;
    } | {
      /** @constant */
      op: "replace";
      path: string;
      value: unknown;
    } | {
      /** @constant */
      op: "test";
      path: string;
      value: unknown;
    } | {
      /** @constant */
      op: "remove";
      path: string;
    } | {
      from: string;
      /** @constant */
      op: "move";
      path: string;
    } | {
      from: string;
      /** @constant */
      op: "copy";
      path: string;
    })[];
    KeptRejection: {
      /** @enum {string} */
      code: "target_not_found" | "target_ambiguous";
      element: unknown;
      index: number;
      message: string;
    };
    Language: {
      id: string;
      name: string;
    };
    Mapper: {
      /** Format: date-time */
      createdDate: string;
      expression: string;
      hasHeader: boolean;
      /** Format: uuid */
      id: string;
      isEnabled: boolean;
      /** Format: date-time */
      modifiedDate: string;
      name: string;
    };
    MapperTrial: {
      elements?: unknown;
      error?: {
        code: string;
        message: string;
      };
      problems?: components["schemas"]["Problem"][];
    };
    MapperTrialWritten: {
      /** @default application/json */
      contentType: string;
      expression: string;
      hasHeader?: boolean;
      sample: string;
    };
    MapperWritten: {
      expression: string;
      hasHeader?: boolean;
      isEnabled?: boolean;
      name: string;
    };
    Operation: {
      accepted: {
        elements: number;
        readings: number;
      };
      /** Format: date-time */
      acceptedDate: string;
      /** Format: date-time */
      completedDate?: string;
      failure?: string;
      id: number;
      /** @constant */
      isReplay?: true;
      mapperId?: string;
      operationId: string;
      rejected: components["schemas"]["Rejection"][];
      /** Format: date-time */
      startedDate?: string;
      /** @enum {string} */
      state: "Queued" | "Processing" | "Completed" | "Rejected" | "Failed";
      userId: string;
      warnings: components["schemas"]["PushWarning"][];
    };
    Origin: {
      /** Format: date-time */
      acceptedDate?: string;
      /** Format: uuid */
      fileId?: string;
      filename?: string;
      isReplay?: boolean;
      /** @enum {string} */
      kind: "Push" | "File" | "Run";
      operationId?: string;
      runId?: number;
      /** Format: date-time */
      startedDate?: string;
      /** Format: date-time */
      uploadedDate?: string;
      userId?: string;
    };
    PointDeletion: {
      fromDateUtc?: (string | number) | null;
      toDateUtc?: (string | number) | null;
      variableIds: number[];
      whatIf?: boolean | null;
    };
    PointRow: {
      avgValue?: number | null;
      countValue?: number | null;
      /** Format: date-time */
      date: string;
      maxValue?: number | null;
      minValue?: number | null;
      rawValue?: number | null;
      stdevValue?: number | null;
      sumValue?: number | null;
      tags?: {
        [key: string]: string;
      };
      unitId?: number | null;
      variableId: number;
      varianceValue?: number | null;
      version?: string;
      /** Format: date-time */
      versionTimestamp?: string;
    };
    PreviewRequest: {
      calculated?: unknown;
      from?: (string | number) | null;
      /** @enum {string} */
      pictures?: "svg" | "png";
      to?: (string | number) | null;
      triggerDate?: (string | number) | null;
    };
    Problem: {
      message: string;
      path: string;
    };
    PushAnswer: {
      accepted: {
        elements: number;
        readings: number;
      };
      operationId: string;
      rejected: components["schemas"]["Rejection"][];
      warnings?: components["schemas"]["PushWarning"][];
    };
    PushBody: components["schemas"]["PushElement"][];
    PushElement: {
      accountId?: null;
      data: components["schemas"]["PushReading"][];
      mappingConfig?: string | null;
      meterNumber?: string | null;
      role?: null;
      sourceEan?: string | null;
      sourceId?: number | null;
      sourceName?: string | null;
      sourceSerialNumber?: string | null;
      tags?: {
        [key: string]: string;
      } | null;
      userId?: null;
      variableId?: number | null;
      variableTypeId?: number | null;
      version?: string | null;
    };
    PushReading: {
      date: string | number;
      tags?: {
        [key: string]: string;
      } | null;
      value: number;
      version?: string | null;
    };
    PushWarning: {
      /** @enum {string} */
      code: "ambiguous_local_date" | "skipped_local_date" | "nothing_accepted" | "rolled_up_date";
      message: string;
      path: string;
    };
    ReadRequest: {
      /** @enum {string} */
      aggregation?: "SUM" | "MIN" | "MAX" | "AVG" | "COUNT" | "VAR" | "STDEV";
      asOf?: string;
      /**
      * @default Normal
      * @enum {string}
      */
      displayLevel: "Normal" | "ValueVariableDate" | "Columns";
      /**
      * @default none
      * @enum {string}
      */
      fill: "none" | "previous" | "linear" | "null";
      /** @enum {string} */
      format?: "json" | "csv" | "arrow" | "xlsx" | "parquet";
      from?: string;
      /**
      * @default Raw
      * @enum {string}
      */
      granularity: "Raw" | "Minute" | "Hour" | "Day" | "Month" | "Year" | "All" | "Week";
      horizon?: string;
      /** @default false */
      includeToBoundary: boolean;
      itemsPerPage?: number;
      minCount?: number;
      /** @default 0 */
      pageNumber: number;
      /**
      * @default ASC
      * @enum {string}
      */
      pagingOrder: "ASC" | "DESC";
      relativeVersion?: string;
      sourceIds?: number[];
      tags?: string[] | {
        [key: string]: string;
      };
      timeZoneId?: string;
      to?: string;
      unitId?: number;
      variableIds?: number[];
      version?: string[];
      /**
      * @default latest
      * @enum {string}
      */
      versions: "latest" | "all";
    };
    ReceivedResponse: {
      body: string;
      headers: {
        [key: string]: string;
      };
      status: number;
    };
    Rejection: {
      /** @enum {string} */
      code: "target_not_found" | "target_ambiguous";
      index: number;
      message: string;
    };
    Retention: {
      isActive: boolean;
      keepRawYears: number;
      /** Format: date-time */
      modifiedDate: string;
      /** @enum {string} */
      rollup: "Hour" | "Day";
      timeZoneId: string;
      userName: string;
    };
    RetentionPreview: {
      /** Format: date-time */
      boundary: string;
      /** Format: date-time */
      countedUntil: string;
      /** Format: date-time */
      firstDate: string | null;
      isComplete: boolean;
      pointCount: number;
      rollupCount: number;
      variableCount: number;
      versionCount: number;
    };
    RetentionState: {
      /** Format: date-time */
      lastRefusedDate: string | null;
      pointCount: number;
      /** Format: date-time */
      rawFrom: string | null;
      refusedPointCount: number;
      retention: components["schemas"]["Retention"] | null;
      rollupCount: number;
      variableCount: number;
    };
    RetentionWritten: {
      isActive?: boolean;
      keepRawYears: number;
      /** @enum {string} */
      rollup?: "Hour" | "Day";
      timeZoneId?: string;
    };
    Role: {
      id: string;
      name: string;
    };
    RowError: {
      /** @enum {string} */
      code: "malformed_row" | "invalid_date" | "invalid_value" | "invalid_identifier" | "invalid_version" | "invalid_tags" | "target_not_found" | "target_ambiguous";
      message: string;
      row: number;
    };
    RowWarning: {
      /** @enum {string} */
      code: "ambiguous_local_date" | "skipped_local_date" | "rolled_up_date";
      message: string;
      row: number;
    };
    Run: {
      ancestors: number[];
      attempt: number;
      causes: number[];
      counts: {
        dropped?: number;
        merged?: number;
        outside?: number;
        read?: number;
        returned?: number;
        stored?: number;
      };
      declarationHash: string | null;
      defaultVersion: string;
      durationsMs: {
        load?: number;
        r?: number;
        sandboxWait?: number;
        store?: number;
        wait?: number;
      };
      /** Format: date-time */
      finishedDate: string | null;
      formulas: {
        forms: {
          alias: string;
          value: unknown;
        }[];
        formula: number;
        /** Format: date-time */
        from: string;
        /** Format: date-time */
        to: string;
        /** Format: date-time */
        triggerDate: string;
      }[];
      /** Format: date-time */
      from: string;
      id: number;
      inputs: {
        aggregation?: string;
        alias: string;
        alignTo?: string;
        /** Format: date-time */
        asOf?: string;
        formula: number;
        /** Format: date-time */
        from: string | null;
        granularity?: string;
        /** Format: date-time */
        historyFrom?: string;
        horizon?: string;
        /** Format: date-time */
        lastVersionTimestamp: string | null;
        points: number;
        /** Format: date-time */
        rawFrom?: string;
        relativeVersion?: string;
        tags?: string[];
        /** Format: date-time */
        to: string | null;
        variableId: number;
        version?: string | string[];
      }[];
      message: string | null;
      notes: {
        call?: string | null;
        errors?: string[];
        /** @enum {string} */
        faultCause?: "run" | "sandbox";
        limit?: string;
        line?: number | null;
        messages?: string[];
        output?: string;
        scriptHash?: string;
        signal?: (string | number) | null;
        warnings?: string[];
      };
      outcome: string | null;
      /** Format: date-time */
      requestedDate: string;
      /** Format: date-time */
      startedDate: string;
      /** @enum {string} */
      state: "Running" | "Succeeded" | "Failed" | "Abandoned";
      /** Format: date-time */
      to: string;
      /** @enum {string} */
      trigger: "Input" | "Schedule" | "ForceUpdate" | "Form";
      /** Format: date-time */
      triggerDate: string;
      variableId: number;
      wave: number;
    };
    RunWithDeclaration: {
      ancestors: number[];
      attempt: number;
      causes: number[];
      counts: {
        dropped?: number;
        merged?: number;
        outside?: number;
        read?: number;
        returned?: number;
        stored?: number;
      };
      declaration: unknown;
      declarationHash: string | null;
      defaultVersion: string;
      durationsMs: {
        load?: number;
        r?: number;
        sandboxWait?: number;
        store?: number;
        wait?: number;
      };
      /** Format: date-time */
      finishedDate: string | null;
      formulas: {
        forms: {
          alias: string;
          value: unknown;
        }[];
        formula: number;
        /** Format: date-time */
        from: string;
        /** Format: date-time */
        to: string;
        /** Format: date-time */
        triggerDate: string;
      }[];
      /** Format: date-time */
      from: string;
      id: number;
      inputs: {
        aggregation?: string;
        alias: string;
        alignTo?: string;
        /** Format: date-time */
        asOf?: string;
        formula: number;
        /** Format: date-time */
        from: string | null;
        granularity?: string;
        /** Format: date-time */
        historyFrom?: string;
        horizon?: string;
        /** Format: date-time */
        lastVersionTimestamp: string | null;
        points: number;
        /** Format: date-time */
        rawFrom?: string;
        relativeVersion?: string;
        tags?: string[];
        /** Format: date-time */
        to: string | null;
        variableId: number;
        version?: string | string[];
      }[];
      message: string | null;
      notes: {
        call?: string | null;
        errors?: string[];
        /** @enum {string} */
        faultCause?: "run" | "sandbox";
        limit?: string;
        line?: number | null;
        messages?: string[];
        output?: string;
        scriptHash?: string;
        signal?: (string | number) | null;
        warnings?: string[];
      };
      outcome: string | null;
      /** Format: date-time */
      requestedDate: string;
      /** Format: date-time */
      startedDate: string;
      /** @enum {string} */
      state: "Running" | "Succeeded" | "Failed" | "Abandoned";
      /** Format: date-time */
      to: string;
      /** @enum {string} */
      trigger: "Input" | "Schedule" | "ForceUpdate" | "Form";
      /** Format: date-time */
      triggerDate: string;
      variableId: number;
      wave: number;
    };
    ScheduleInstants: {
      instants: string[];
      timeZoneId: string;
    };
    SentRequest: {
      body: string;
      headers: {
        [key: string]: string;
      };
      method: string;
      url: string;
    };
    SigningKey: {
      algorithm: string;
      /** Format: date-time */
      createdDate: string;
      kid: string;
      /** Format: date-time */
      signsFrom: string | null;
      /** @enum {string} */
      state: "Next" | "Signing" | "Verifying";
    };
    Site: {
      city: string | null;
      clientData: Record<string, never> | null;
      country: string | null;
      externalId: string | null;
      formProblems?: {
        message: string;
        path: string;
      }[];
      id: number;
      location: string | null;
      name: string;
      postalCode: string | null;
      street: string | null;
      timeZoneId: string;
      typeId: number | null;
    };
    SiteAccessModel: {
      /** @enum {string} */
      level: "Read" | "Write" | "Admin";
      siteId: number;
      sourceIds?: number[];
    };
    SiteAccessWritten: {
      /** @enum {string} */
      level: "Read" | "Write" | "Admin";
      siteId: number;
      sourceIds?: number[] | null;
    }[];
    SiteCreation: {
      city?: string | null;
      clientData?: Record<string, never> | null;
      country?: string | null;
      externalId?: string | null;
      location?: string | null;
      name: string;
      postalCode?: string | null;
      street?: string | null;
      timeZoneId?: string;
      typeId?: number | null;
    };
    SiteTypeChange: {
      name?: string;
    };
    SiteTypeWritten: {
      name: string;
    };
    SiteUpdate: {
      city?: string | null;
      clientData?: Record<string, never> | null;
      country?: string | null;
      externalId?: string | null;
      location?: string | null;
      name?: string;
      postalCode?: string | null;
      street?: string | null;
      timeZoneId?: string;
      typeId?: number | null;
    };
    Source: {
      clientData?: Record<string, never> | null;
      description?: string | null;
      eanNumber?: string | null;
      energyTypeId?: number | null;
      energyUsageId?: number | null;
      formProblems?: {
        message: string;
        path: string;
      }[];
      id: number;
      localisation?: string | null;
      meterAddress?: string | null;
      meterNumber?: string | null;
      name: string;
      serialNumber: string | null;
      siteId: number;
      siteName?: string;
      sourceTypeId: number | null;
      tags?: string[] | null;
      timeZoneId: string | null;
    };
    SourceCreation: {
      clientData?: Record<string, never> | null;
      description?: string | null;
      eanNumber?: string | null;
      energyTypeId?: number | null;
      energyUsageId?: number | null;
      localisation?: string | null;
      meterAddress?: string | null;
      meterNumber?: string | null;
      name: string;
      serialNumber?: string | null;
      siteId: number;
      sourceTypeId?: number | null;
      tags?: string[] | null;
      timeZoneId?: string | null;
    };
    SourceTypeChange: {
      name?: string;
    };
    SourceTypeWritten: {
      name: string;
    };
    SourceUpdate: {
      clientData?: Record<string, never> | null;
      description?: string | null;
      eanNumber?: string | null;
      energyTypeId?: number | null;
      energyUsageId?: number | null;
      localisation?: string | null;
      meterAddress?: string | null;
      meterNumber?: string | null;
      name?: string;
      serialNumber?: string | null;
      siteId?: number;
      sourceTypeId?: number | null;
      tags?: string[] | null;
      timeZoneId?: string | null;
    };
    Target: {
      variableId: number;
    };
    TimeZone: {
      id: string;
      name: string;
    };
    Unit: {
      divisor: number;
      id: number;
      name: string;
      offset: number;
      symbol: string;
      unitFamilyId: number;
    };
    UnitChange: {
      divisor?: number;
      name?: string;
      offset?: number;
      symbol?: string;
      unitFamilyId?: number;
    };
    UnitFamily: {
      id: number;
      name: string;
    };
    UnitFamilyChange: {
      name?: string;
    };
    UnitFamilyWritten: {
      name: string;
    };
    UnitWritten: {
      divisor?: number;
      name: string;
      offset?: number;
      symbol?: string;
      unitFamilyId: number;
    };
    UpdateState: {
      running: {
        /** Format: date-time */
        from: string;
        runId: number;
        /** Format: date-time */
        startedDate: string;
        /** Format: date-time */
        to: string;
        /** @enum {string} */
        trigger: "Input" | "Schedule" | "ForceUpdate" | "Form";
      } | null;
      usualMs: number | null;
      waiting: {
        attempt: number;
        /** Format: date-time */
        from: string;
        /** Format: date-time */
        notBeforeDate: string;
        /** Format: date-time */
        requestedDate: string;
        /** Format: date-time */
        to: string;
        /** @enum {string} */
        trigger: "Input" | "Schedule" | "ForceUpdate" | "Form";
      }[];
    };
    UserClaim: {
      claimType: string;
      claimValue: string;
      /** @constant */
      id: 0;
      userId: string;
    };
    UserClaimWritten: {
      claimType: string;
      claimValue: string;
      userId?: string | null;
    };
    UserFeature: {
      id: number;
      /** @enum {string} */
      level: "None" | "Read" | "Write" | "Admin";
      name: string;
    };
    UserFeaturesWritten: {
      id?: number | null;
      /** @enum {string} */
      level: "None" | "Read" | "Write" | "Admin";
      name?: string | null;
    }[];
    UserInfoLight: {
      firstName: string | null;
      id: string;
      lastName: string | null;
      pseudo: string | null;
      userName: string;
    };
    UserInfoViewModel: {
      accounts: {
        id: number;
        name: string;
      }[];
      businessKeys: {
        businessId: string | null;
        id: string;
        username: string;
      };
      claims: components["schemas"]["UserClaim"][];
      /** Format: date-time */
      createdDate: string;
      email: string | null;
      features: components["schemas"]["UserFeature"][];
      firstName: string | null;
      id: string;
      isLocked: boolean;
      language: string;
      /** Format: date-time */
      lastLoginDate: string | null;
      lastName: string | null;
      /** Format: date-time */
      lockedUntil: string | null;
      phoneNumber: string | null;
      pseudo: string | null;
      roles: components["schemas"]["Role"][];
      secondaryAccesses: components["schemas"]["UserFeature"][];
      sites: components["schemas"]["SiteAccessModel"][];
      userName: string;
    };
    UserLight: {
      accounts?: {
        id: number;
        name: string;
      }[];
      businessId?: string | null;
      businessKeys?: {
        businessId: string | null;
        id: string;
        username: string;
      };
      claims?: components["schemas"]["UserClaim"][];
      /** Format: date-time */
      createdDate?: string;
      email?: string | null;
      features?: components["schemas"]["UserFeature"][];
      firstName: string | null;
      id: string;
      isLocked?: boolean;
      language?: string;
      /** Format: date-time */
      lastLoginDate?: string | null;
      lastName: string | null;
      /** Format: date-time */
      lockedUntil?: string | null;
      phoneNumber?: string | null;
      pseudo: string | null;
      roles?: components["schemas"]["Role"][];
      secondaryAccesses?: components["schemas"]["UserFeature"][];
      sites?: components["schemas"]["SiteAccessModel"][];
      userName: string;
    };
    UserLock: {
      isLocked: boolean;
      reason?: string | null;
      until?: string | number | null;
    };
    UserSearchRequest: {
      accountId?: number | null;
      businessKeys?: {
        /** @enum {string|null} */
        name?: "Id" | "Username" | "BusinessId" | null;
        values?: string[] | null;
      } | null;
      claims?: {
        claimType: string;
        claimValue?: string | null;
      }[] | null;
      /** @enum {string|null} */
      displayLevel?: "Light" | "Normal" | "Verbose" | null;
      itemsPerPage?: number | null;
      pageNumber?: number | null;
      paging?: {
        itemsPerPage?: number | null;
        pageNumber?: number | null;
      } | null;
      roles?: string[] | null;
      searchText?: string | null;
      viewId?: string | null;
    };
    UserSearchResponse: {
      itemsPerPage: number;
      pageNumber: number;
      totalCount: number;
      users: components["schemas"]["UserLight"][];
    };
    UserWritten: {
      businessKeys?: {
        businessId?: string | null;
      } | null;
      claims?: {
        claimType: string;
        claimValue: string;
        userId?: string | null;
      }[] | null;
      email?: string | null;
      features?: {
        id?: number | null;
        /** @enum {string} */
        level: "None" | "Read" | "Write" | "Admin";
        name?: string | null;
      }[] | null;
      firstName?: string | null;
      language?: string | null;
      lastName?: string | null;
      phoneNumber?: string | null;
      pseudo?: string | null;
      roles?: ("ADMIN" | "MANAGER" | "USER")[] | null;
      secondaryAccesses?: {
        id?: number | null;
        /** @enum {string} */
        level: "None" | "Read" | "Write" | "Admin";
        name?: string | null;
      }[] | null;
      sites?: {
        /** @enum {string} */
        level: "Read" | "Write" | "Admin";
        siteId: number;
        sourceIds?: number[] | null;
      }[] | null;
      userName?: string;
    };
    Validation: {
      isValid: boolean;
      problems: {
        line?: number;
        message: string;
        path: string;
      }[];
      warnings: {
        message: string;
        path: string;
      }[];
    };
    Variable: {
      /** @enum {string|null} */
      aggregate: "SUM" | "MIN" | "MAX" | "AVG" | "COUNT" | "VAR" | "STDEV" | null;
      calculated?: Record<string, never> | null;
      clientData?: Record<string, never> | null;
      divider: number | null;
      formProblems?: {
        message: string;
        path: string;
      }[];
      granularity: number | null;
      /** @enum {string|null} */
      granularityTimeBase: "Millisecond" | "Second" | "Minute" | "Hour" | "Day" | "Week" | "Month" | "Year" | null;
      id: number;
      isDefault: boolean | null;
      isVersioned: boolean | null;
      mappingConfig: string | null;
      name: string | null;
      problems?: {
        message: string;
        path: string;
      }[];
      /** @enum {string|null} */
      quantityType: "Instantaneous" | "Integrated" | "Cumulative" | "Minimum" | "Maximum" | "Averaged" | null;
      sourceId: number;
      sourceName: string;
      unitId: number | null;
      variableTypeId: number | null;
      versionLimit: number | null;
    };
    VariableType: {
      /** @enum {string} */
      aggregate: "SUM" | "MIN" | "MAX" | "AVG" | "COUNT" | "VAR" | "STDEV";
      id: number;
      name: string;
    };
    VariableTypeChange: {
      /** @enum {string} */
      aggregate?: "SUM" | "MIN" | "MAX" | "AVG" | "COUNT" | "VAR" | "STDEV";
      name?: string;
    };
    VariableTypeWritten: {
      /** @enum {string} */
      aggregate?: "SUM" | "MIN" | "MAX" | "AVG" | "COUNT" | "VAR" | "STDEV";
      name: string;
    };
    VariableWritten: {
      /** @enum {string|null} */
      aggregate?: "SUM" | "MIN" | "MAX" | "AVG" | "COUNT" | "VAR" | "STDEV" | null;
      calculated?: components["schemas"]["Declaration"] | null;
      clientData?: Record<string, never> | null;
      divider?: number | null;
      granularity?: number | null;
      /** @enum {string|null} */
      granularityTimeBase?: "Millisecond" | "Second" | "Minute" | "Hour" | "Day" | "Week" | "Month" | "Year" | null;
      isDefault?: boolean | null;
      isVersioned?: boolean | null;
      mappingConfig?: string | null;
      name?: string | null;
      /** @enum {string|null} */
      quantityType?: "Instantaneous" | "Integrated" | "Cumulative" | "Minimum" | "Maximum" | "Averaged" | null;
      sourceId?: number;
      unitId?: number | null;
      variableTypeId?: number | null;
      versionLimit?: number | null;
    };
    VersionInUse: {
      /** Format: date-time */
      firstVersionTimestamp: string;
      /** Format: date-time */
      lastVersionTimestamp: string;
      pointCount: number;
      version: string | null;
    };
    VersionOrigins: {
      origins: components["schemas"]["Origin"][];
      /** Format: date-time */
      versionTimestamp: string;
    };
    Wave: {
      edges: {
        from: number;
        to: number;
      }[];
      isCut: boolean;
      nodes: {
        /** Format: date-time */
        finishedDate: string | null;
        name: string;
        outcome: string | null;
        runId: number | null;
        sourceName: string;
        /** Format: date-time */
        startedDate: string | null;
        /** @enum {string} */
        state: "Changed" | "Waiting" | "Running" | "Succeeded" | "Failed" | "Abandoned";
        /** @enum {string|null} */
        trigger: "Input" | "Schedule" | "ForceUpdate" | "Form" | null;
        variableId: number;
      }[];
      wave: number;
    };
    Webhook: {
      bodyTemplate?: string | null;
      /** Format: date-time */
      createdDate?: string;
      disabledReason?: string | null;
      /** @enum {string} */
      eventType: "DataPushCompleted" | "FileIngested" | "DataPointsWritten" | "CalculationCompleted" | "CalculationFailed" | "CalculationForceUpdate" | "SiteCreated" | "SiteUpdated" | "SiteDeleted" | "SourceCreated" | "SourceUpdated" | "SourceDeleted" | "VariableCreated" | "VariableUpdated" | "VariableDeleted" | "UserCreated" | "UserLocked" | "InvitationAccepted";
      failureCount?: number;
      filter?: {
        siteIds?: number[];
        sourceIds?: number[];
        variableIds?: number[];
      };
      headers?: {
        [key: string]: string;
      };
      /** @enum {string} */
      httpMethod?: "POST" | "PUT";
      id: string;
      isEnabled: boolean;
      lastExecution?: {
        /** Format: date-time */
        date: string;
        state: string;
      } | null;
      /** Format: date-time */
      modifiedDate?: string;
      name: string;
      successCount?: number;
      url?: string;
    };
    WebhookHistory: {
      attempt: number;
      /** Format: date-time */
      date: string;
      durationMs?: number;
      error?: string;
      eventId: string;
      /** @enum {string} */
      eventType: "DataPushCompleted" | "FileIngested" | "DataPointsWritten" | "CalculationCompleted" | "CalculationFailed" | "CalculationForceUpdate" | "SiteCreated" | "SiteUpdated" | "SiteDeleted" | "SourceCreated" | "SourceUpdated" | "SourceDeleted" | "VariableCreated" | "VariableUpdated" | "VariableDeleted" | "UserCreated" | "UserLocked" | "InvitationAccepted";
      id: string;
      isReplay: boolean;
      /** Format: date-time */
      nextAttemptDate?: string;
      request?: components["schemas"]["SentRequest"];
      response?: components["schemas"]["ReceivedResponse"];
      /** @enum {string} */
      state: "Pending" | "Succeeded" | "Failed";
      webhookId: string;
    };
    WebhookTest: {
      error?: string;
      id: string;
      request: components["schemas"]["SentRequest"] | null;
      response?: components["schemas"]["ReceivedResponse"];
      /** @enum {string} */
      state: "Pending" | "Succeeded" | "Failed";
    };
    WebhookTestStarted: {
      id: string;
      secret?: string;
    };
    WebhookTestWritten: {
      bodyTemplate?: string | null;
      data?: unknown;
      /** @enum {string} */
      eventType: "DataPushCompleted" | "FileIngested" | "DataPointsWritten" | "CalculationCompleted" | "CalculationFailed" | "CalculationForceUpdate" | "SiteCreated" | "SiteUpdated" | "SiteDeleted" | "SourceCreated" | "SourceUpdated" | "SourceDeleted" | "VariableCreated" | "VariableUpdated" | "VariableDeleted" | "UserCreated" | "UserLocked" | "InvitationAccepted";
      filter?: {
        siteIds?: number[] | null;
        sourceIds?: number[] | null;
        variableIds?: number[] | null;
      } | null;
      headers?: {
        [key: string]: string;
      } | null;
      /** @enum {string|null} */
      httpMethod?: "POST" | "PUT" | null;
      id?: unknown;
      isEnabled?: boolean | null;
      name?: string | null;
      secret?: string | null;
      url: string;
    };
    WebhookUpdate: {
      bodyTemplate?: string | null;
      /** @enum {string} */
      eventType?: "DataPushCompleted" | "FileIngested" | "DataPointsWritten" | "CalculationCompleted" | "CalculationFailed" | "CalculationForceUpdate" | "SiteCreated" | "SiteUpdated" | "SiteDeleted" | "SourceCreated" | "SourceUpdated" | "SourceDeleted" | "VariableCreated" | "VariableUpdated" | "VariableDeleted" | "UserCreated" | "UserLocked" | "InvitationAccepted";
      filter?: {
        siteIds?: number[] | null;
        sourceIds?: number[] | null;
        variableIds?: number[] | null;
      } | null;
      headers?: {
        [key: string]: string;
      } | null;
      /** @enum {string|null} */
      httpMethod?: "POST" | "PUT" | null;
      isEnabled?: boolean;
      name?: string;
      secret?: string | null;
      url?: string;
    };
    WebhookWithSecret: {
      bodyTemplate?: string | null;
      /** Format: date-time */
      createdDate?: string;
      disabledReason?: string | null;
      /** @enum {string} */
      eventType: "DataPushCompleted" | "FileIngested" | "DataPointsWritten" | "CalculationCompleted" | "CalculationFailed" | "CalculationForceUpdate" | "SiteCreated" | "SiteUpdated" | "SiteDeleted" | "SourceCreated" | "SourceUpdated" | "SourceDeleted" | "VariableCreated" | "VariableUpdated" | "VariableDeleted" | "UserCreated" | "UserLocked" | "InvitationAccepted";
      failureCount?: number;
      filter?: {
        siteIds?: number[];
        sourceIds?: number[];
        variableIds?: number[];
      };
      headers?: {
        [key: string]: string;
      };
      /** @enum {string} */
      httpMethod?: "POST" | "PUT";
      id: string;
      isEnabled: boolean;
      lastExecution?: {
        /** Format: date-time */
        date: string;
        state: string;
      } | null;
      /** Format: date-time */
      modifiedDate?: string;
      name: string;
      secret?: string;
      successCount?: number;
      url?: string;
    };
    WebhookWritten: {
      bodyTemplate?: string | null;
      /** @enum {string} */
      eventType: "DataPushCompleted" | "FileIngested" | "DataPointsWritten" | "CalculationCompleted" | "CalculationFailed" | "CalculationForceUpdate" | "SiteCreated" | "SiteUpdated" | "SiteDeleted" | "SourceCreated" | "SourceUpdated" | "SourceDeleted" | "VariableCreated" | "VariableUpdated" | "VariableDeleted" | "UserCreated" | "UserLocked" | "InvitationAccepted";
      filter?: {
        siteIds?: number[] | null;
        sourceIds?: number[] | null;
        variableIds?: number[] | null;
      } | null;
      headers?: {
        [key: string]: string;
      } | null;
      /** @enum {string|null} */
      httpMethod?: "POST" | "PUT" | null;
      isEnabled?: boolean | null;
      name: string;
      secret?: string | null;
      url: string;
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
  getAccount: {
    parameters: {
      query?: {
        displayLevel?: "Light" | "Normal" | "Verbose";
        fieldMask?: ("id" | "name" | "language" | "timeZoneId" | "currency" | "smsSettings" | "emailSettings" | "versionLimit" | "createdDate" | "siteCount" | "sourceCount" | "variableCount" | "userCount")[];
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
          "application/json": components["schemas"]["Account"];
        };
      };
    };
  };
  updateAccount: {
    parameters: {
      query?: {
        fieldMask?: ("id" | "name" | "language" | "timeZoneId" | "currency" | "smsSettings" | "emailSettings" | "versionLimit" | "createdDate" | "siteCount" | "sourceCount" | "variableCount" | "userCount")[];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["AccountWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Account"];
        };
      };
    };
  };
  listAudit: {
    parameters: {
      query?: {
        action?: "AccountCreated" | "AccountUpdated" | "UserCreated" | "UserUpdated" | "UserDeleted" | "UserLocked" | "UserUnlocked" | "PasswordResetRequested" | "ClaimsAdded" | "ClaimsEdited" | "ClaimsRemoved" | "FeaturesChanged" | "SecondaryAccessesChanged" | "SitesGranted" | "SitesRevoked" | "UserAddedToAccount" | "UserRemovedFromAccount" | "InvitationCreated" | "InvitationResent" | "InvitationDeleted" | "InvitationAccepted" | "ImpersonationStarted" | "MapperCreated" | "MapperUpdated" | "MapperDeleted" | "WebhookCreated" | "WebhookUpdated" | "WebhookDeleted" | "WebhookReplayed" | "WebhookTested" | "SiteDeleted" | "SourceDeleted" | "VariableDeleted" | "FormCreated" | "FormUpdated" | "FormDeleted" | "CatalogueEntryCreated" | "CatalogueEntryUpdated" | "CatalogueEntryDeleted" | "PointsDeleted" | "VersionsPurged" | "RetentionSaved" | "RetentionRemoved" | "PointsRolledUp" | "ViewCreated" | "ViewUpdated" | "ViewDeleted" | "ClientCreated" | "ClientSecretReplaced" | "ClientUpdated" | "ClientDeleted" | "SigningKeyAdded" | "BatchesRetried";
        from?: string;
        itemsPerPage?: number;
        pageNumber?: number;
        scope?: "Account" | "Operator" | "All";
        targetId?: string;
        to?: string;
        userId?: string;
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
          "application/json": components["schemas"]["AuditEntry"][];
        };
      };
    };
  };
  listAccountFeatures: {
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
        content: {
          "application/json": components["schemas"]["UserFeature"][];
        };
      };
    };
  };
  createFeature: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["FeatureWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            id: number;
            name: string;
          };
        };
      };
    };
  };
  updateFeature: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["FeatureChange"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteFeature: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  getAccountHealth: {
    parameters: {
      query?: {
        silentAfterHours?: number;
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
          "application/json": components["schemas"]["AccountHealth"];
        };
      };
    };
  };
  listInvitations: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
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
          "application/json": components["schemas"]["Invitation"][];
        };
      };
    };
  };
  createInvitation: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["InvitationWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Invitation"];
        };
      };
    };
  };
  getInvitation: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Invitation"];
        };
      };
    };
  };
  deleteInvitation: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
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
  resendInvitation: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
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
  listMappers: {
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
        content: {
          "application/json": components["schemas"]["Mapper"][];
        };
      };
    };
  };
  createMapper: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["MapperWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Mapper"];
        };
      };
    };
  };
  getMapper: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Mapper"];
        };
      };
    };
  };
  updateMapper: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["MapperWritten"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteMapper: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  tryExpression: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["MapperTrialWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["MapperTrial"];
        };
      };
    };
  };
  getAccountRetention: {
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
        content: {
          "application/json": components["schemas"]["RetentionState"];
        };
      };
    };
  };
  putAccountRetention: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RetentionWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RetentionState"];
        };
      };
    };
  };
  deleteAccountRetention: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  previewAccountRetention: {
    parameters: {
      query?: {
        keepRawYears?: number;
        rollup?: "Hour" | "Day";
        timeZoneId?: string;
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
          "application/json": components["schemas"]["RetentionPreview"];
        };
      };
    };
  };
  getUser: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UserInfoViewModel"];
        };
      };
    };
  };
  saveUser: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UserWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UserInfoViewModel"];
        };
      };
    };
  };
  deleteUser: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
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
  addDataPusherClaim: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UserClaimWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UserClaim"];
        };
      };
    };
  };
  removeDataPusherClaims: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": {
          claimType: string;
          claimValue: string;
          userId?: string | null;
        }[];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UserClaim"][];
        };
      };
    };
  };
  listUserFeatures: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UserFeature"][];
        };
      };
    };
  };
  saveUserFeatures: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UserFeaturesWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  lockUser: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UserLock"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  resetPassword: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
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
  listUserSecondaryAccesses: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UserFeature"][];
        };
      };
    };
  };
  saveUserSecondaryAccesses: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UserFeaturesWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  grantSites: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SiteAccessWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  revokeSites: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        userId: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": number[];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
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
  addClaim: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UserClaimWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  editClaim: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UserClaimWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  removeClaims: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": {
          claimType: string;
          claimValue: string;
          userId?: string | null;
        }[];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  createUser: {
    parameters: {
      query?: {
        delayToSendEmail?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UserWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  listUserMapping: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
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
          "application/json": components["schemas"]["UserInfoLight"][];
        };
      };
    };
  };
  listUsers: {
    parameters: {
      query?: {
        AccountId?: number;
        "BusinessKeys.Name"?: "Id" | "Username" | "BusinessId";
        "BusinessKeys.Values"?: string[];
        "Claims[0].ClaimType"?: string;
        "Claims[0].ClaimValue"?: string;
        DisplayLevel?: "Light" | "Normal" | "Verbose";
        "Paging.ItemsPerPage"?: number;
        "Paging.PageNumber"?: number;
        Roles?: string[];
        SearchText?: string;
        ViewId?: string;
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
          "application/json": components["schemas"]["UserLight"][];
        };
      };
    };
  };
  postUserSearch: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UserSearchRequest"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UserSearchResponse"];
        };
      };
    };
  };
  listWebhooks: {
    parameters: {
      query?: {
        DisplayLevel?: "Light" | "Normal" | "Verbose";
        EventType?: ("DataPushCompleted" | "FileIngested" | "DataPointsWritten" | "CalculationCompleted" | "CalculationFailed" | "CalculationForceUpdate" | "SiteCreated" | "SiteUpdated" | "SiteDeleted" | "SourceCreated" | "SourceUpdated" | "SourceDeleted" | "VariableCreated" | "VariableUpdated" | "VariableDeleted" | "UserCreated" | "UserLocked" | "InvitationAccepted")[];
        itemsPerPage?: number;
        pageNumber?: number;
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
          "application/json": components["schemas"]["Webhook"][];
        };
      };
    };
  };
  createWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["WebhookWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["WebhookWithSecret"];
        };
      };
    };
  };
  getWebhook: {
    parameters: {
      query?: {
        DisplayLevel?: "Light" | "Normal" | "Verbose";
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Webhook"];
        };
      };
    };
  };
  updateWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["WebhookUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Webhook"];
        };
      };
    };
  };
  deleteWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
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
  patchWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["JsonPatch"];
        "application/json-patch+json": components["schemas"]["JsonPatch"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  listWebhookHistory: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
        state?: ("Pending" | "Succeeded" | "Failed")[];
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["WebhookHistory"][];
        };
      };
    };
  };
  replayWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        historyId: string;
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["WebhookHistory"];
        };
      };
    };
  };
  testWebhook: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["WebhookTestWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["WebhookTestStarted"];
        };
      };
    };
  };
  getWebhookTest: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["WebhookTest"];
        };
      };
    };
  };
  listClients: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
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
          "application/json": components["schemas"]["Client"][];
        };
      };
    };
  };
  createClient: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ClientWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ClientWithSecret"];
        };
      };
    };
  };
  updateClient: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        clientId: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ClientUpdate"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Client"];
        };
      };
    };
  };
  deleteClient: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        clientId: string;
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
  replaceClientSecret: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        clientId: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ClientSecretReplacement"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ClientWithSecret"];
        };
      };
    };
  };
  getInstallation: {
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
        content: {
          "application/json": components["schemas"]["Installation"];
        };
      };
    };
  };
  listSigningKeys: {
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
        content: {
          "application/json": components["schemas"]["SigningKey"][];
        };
      };
    };
  };
  createSigningKey: {
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
        content: {
          "application/json": components["schemas"]["SigningKey"];
        };
      };
    };
  };
  pushData: {
    parameters: {
      query?: {
        operationId?: string;
        operationTimeoutSec?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PushBody"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PushAnswer"];
        };
      };
    };
  };
  listTargets: {
    parameters: {
      query?: {
        variableIds?: number[];
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
          "application/json": components["schemas"]["Target"][];
        };
      };
    };
  };
  getOperation: {
    parameters: {
      query?: {
        all?: boolean;
        itemsPerPage?: number;
        pageNumber?: number;
      };
      header?: never;
      path: {
        label: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Operation"] | components["schemas"]["Operation"][];
        };
      };
    };
  };
  listRejectedElements: {
    parameters: {
      query?: {
        all?: boolean;
        itemsPerPage?: number;
        pageNumber?: number;
      };
      header?: never;
      path: {
        label: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["KeptRejection"][];
        };
      };
    };
  };
  replayRejectedElements: {
    parameters: {
      query?: {
        all?: boolean;
        operationTimeoutSec?: number;
      };
      header?: never;
      path: {
        label: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PushAnswer"];
        };
      };
    };
  };
  listScheduleInstants: {
    parameters: {
      query: {
        count?: number;
        cron: string;
        from?: string;
        timeZoneId: string;
        until?: string;
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
          "application/json": components["schemas"]["ScheduleInstants"];
        };
      };
    };
  };
  readPoints: {
    parameters: {
      query?: {
        aggregation?: "SUM" | "MIN" | "MAX" | "AVG" | "COUNT" | "VAR" | "STDEV";
        asOf?: string;
        displayLevel?: "Normal" | "ValueVariableDate" | "Columns";
        fill?: "none" | "previous" | "linear" | "null";
        format?: "json" | "csv" | "arrow" | "xlsx" | "parquet";
        from?: string;
        granularity?: "Raw" | "Minute" | "Hour" | "Day" | "Month" | "Year" | "All" | "Week";
        horizon?: string;
        includeToBoundary?: boolean;
        itemsPerPage?: number;
        minCount?: number;
        pageNumber?: number;
        pagingOrder?: "ASC" | "DESC";
        relativeVersion?: string;
        sourceIds?: number[];
        tags?: string[];
        timeZoneId?: string;
        to?: string;
        unitId?: number;
        variableIds?: number[];
        version?: string[];
        versions?: "latest" | "all";
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
          "application/json": components["schemas"]["PointRow"][];
        };
      };
    };
  };
  queryPoints: {
    parameters: {
      query?: {
        format?: "json" | "csv" | "arrow" | "xlsx" | "parquet";
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ReadRequest"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PointRow"][];
        };
      };
    };
  };
  deletePoints: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PointDeletion"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            results: {
              datapointCount: number;
              variableId: number;
            }[];
          };
        };
      };
    };
  };
  compareVersions: {
    parameters: {
      query: {
        format?: "json" | "csv" | "arrow" | "xlsx" | "parquet";
        from?: string;
        includeToBoundary?: boolean;
        itemsPerPage?: number;
        leftAsOf?: string;
        leftVersion?: string[];
        pageNumber?: number;
        pagingOrder?: "ASC" | "DESC";
        rightAsOf?: string;
        rightVersion?: string[];
        timeZoneId?: string;
        to?: string;
        unitId?: number;
        variableId: number;
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
          "application/json": components["schemas"]["Comparison"];
        };
      };
    };
  };
  findOrigins: {
    parameters: {
      query: {
        variableId: number;
        versionTimestamps: string[];
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
          "application/json": components["schemas"]["VersionOrigins"][];
        };
      };
    };
  };
  getDeletion: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Deletion"];
        };
      };
    };
  };
  listEnergyTypes: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
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
            id: number;
            name: string;
          }[];
        };
      };
    };
  };
  createEnergyType: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["EnergyTypeWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            id: number;
            name: string;
          };
        };
      };
    };
  };
  updateEnergyType: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["EnergyTypeChange"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteEnergyType: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  listEnergyUsages: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
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
            id: number;
            name: string;
          }[];
        };
      };
    };
  };
  createEnergyUsage: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["EnergyUsageWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            id: number;
            name: string;
          };
        };
      };
    };
  };
  updateEnergyUsage: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["EnergyUsageChange"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteEnergyUsage: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  listForms: {
    parameters: {
      query?: {
        entityType?: "Site" | "Source" | "Variable";
        itemsPerPage?: number;
        name?: string;
        pageNumber?: number;
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
          "application/json": components["schemas"]["Form"][];
        };
      };
    };
  };
  createForm: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["FormWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Form"];
        };
      };
    };
  };
  getForm: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Form"];
        };
      };
    };
  };
  updateForm: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["FormChange"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteForm: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  listFormValues: {
    parameters: {
      query?: {
        hasProblems?: boolean;
        itemsPerPage?: number;
        pageNumber?: number;
      };
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FilledForm"][];
        };
      };
    };
  };
  listLanguages: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
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
          "application/json": components["schemas"]["Language"][];
        };
      };
    };
  };
  getRun: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RunWithDeclaration"];
        };
      };
    };
  };
  getWave: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Wave"];
        };
      };
    };
  };
  listSites: {
    parameters: {
      query?: {
        customFilter?: string;
        displayLevel?: "Site" | "VerboseSite" | "Normal";
        itemsPerPage?: number;
        pageNumber?: number;
        siteIds?: number[];
        sourceIds?: number[];
        variableIds?: number[];
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
          "application/json": components["schemas"]["Site"][];
        };
      };
    };
  };
  createSite: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SiteCreation"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": number;
        };
      };
    };
  };
  getSite: {
    parameters: {
      query?: {
        displayLevel?: "Site" | "VerboseSite" | "Normal";
      };
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Site"];
        };
      };
    };
  };
  updateSite: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SiteUpdate"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteSite: {
    parameters: {
      query?: {
        hardDelete?: boolean;
      };
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Deletion"];
        };
      };
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  patchSite: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["JsonPatch"];
        "application/json-patch+json": components["schemas"]["JsonPatch"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  listSiteTypes: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
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
            id: number;
            name: string;
          }[];
        };
      };
    };
  };
  createSiteType: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SiteTypeWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            id: number;
            name: string;
          };
        };
      };
    };
  };
  updateSiteType: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SiteTypeChange"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteSiteType: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  listSources: {
    parameters: {
      query?: {
        customFilter?: string;
        displayLevel?: "Light" | "Site" | "Normal" | "Verbose";
        itemsPerPage?: number;
        pageNumber?: number;
        siteIds?: number[];
        sourceIds?: number[];
        variableIds?: number[];
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
          "application/json": components["schemas"]["Source"][];
        };
      };
    };
  };
  createSource: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SourceCreation"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Source"];
        };
      };
    };
  };
  getSource: {
    parameters: {
      query?: {
        displayLevel?: "Light" | "Site" | "Normal" | "Verbose";
      };
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Source"];
        };
      };
    };
  };
  updateSource: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SourceUpdate"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteSource: {
    parameters: {
      query?: {
        hardDelete?: boolean;
      };
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Deletion"];
        };
      };
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  patchSource: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["JsonPatch"];
        "application/json-patch+json": components["schemas"]["JsonPatch"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  updateVariable: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
        sourceId: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["VariableWritten"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteVariable: {
    parameters: {
      query?: {
        hardDelete?: boolean;
      };
      header?: never;
      path: {
        id: number;
        sourceId: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Deletion"];
        };
      };
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  patchVariable: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
        sourceId: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["JsonPatch"];
        "application/json-patch+json": components["schemas"]["JsonPatch"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  evaluateCalculation: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
        sourceId: number;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["PreviewRequest"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Evaluation"];
        };
      };
    };
  };
  listDeclarations: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
      };
      header?: never;
      path: {
        id: number;
        sourceId: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["DeclarationSave"][];
        };
      };
    };
  };
  validateCalculation: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
        sourceId: number;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["PreviewRequest"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Validation"];
        };
      };
    };
  };
  listSourceTypes: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
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
            id: number;
            name: string;
          }[];
        };
      };
    };
  };
  createSourceType: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SourceTypeWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            id: number;
            name: string;
          };
        };
      };
    };
  };
  updateSourceType: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["SourceTypeChange"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteSourceType: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  getFile: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FileStatus"];
        };
      };
    };
  };
  getImport: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ImportResult"];
        };
      };
    };
  };
  listImportedRows: {
    parameters: {
      query?: {
        action?: "Created" | "Changed" | "Left";
        itemsPerPage?: number;
        kind?: "catalogues" | "forms" | "sites" | "sources" | "variables";
        pageNumber?: number;
      };
      header?: never;
      path: {
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ImportedRow"][];
        };
      };
    };
  };
  listTimeZones: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
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
          "application/json": components["schemas"]["TimeZone"][];
        };
      };
    };
  };
  listUnitFamilies: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
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
          "application/json": components["schemas"]["UnitFamily"][];
        };
      };
    };
  };
  createUnitFamily: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UnitFamilyWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UnitFamily"];
        };
      };
    };
  };
  updateUnitFamily: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UnitFamilyChange"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteUnitFamily: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  listUnits: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
        unitFamilyId?: number[];
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
          "application/json": components["schemas"]["Unit"][];
        };
      };
    };
  };
  createUnit: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UnitWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Unit"];
        };
      };
    };
  };
  updateUnit: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["UnitChange"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteUnit: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
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
  listVariables: {
    parameters: {
      query?: {
        customFilter?: string;
        displayLevel?: "Normal" | "Verbose";
        hasProblems?: boolean;
        itemsPerPage?: number;
        pageNumber?: number;
        siteIds?: number[];
        sourceIds?: number[];
        variableIds?: number[];
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
          "application/json": components["schemas"]["Variable"][];
        };
      };
    };
  };
  getVariable: {
    parameters: {
      query?: {
        displayLevel?: "Normal" | "Verbose";
      };
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Variable"];
        };
      };
    };
  };
  forceUpdateVariable: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["DateRange"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            variableIds: number[];
          };
        };
      };
    };
  };
  getVariableRetention: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RetentionState"];
        };
      };
    };
  };
  putVariableRetention: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["RetentionWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RetentionState"];
        };
      };
    };
  };
  deleteVariableRetention: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  previewVariableRetention: {
    parameters: {
      query?: {
        keepRawYears?: number;
        rollup?: "Hour" | "Day";
        timeZoneId?: string;
      };
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RetentionPreview"];
        };
      };
    };
  };
  listRuns: {
    parameters: {
      query?: {
        from?: string;
        itemsPerPage?: number;
        pageNumber?: number;
        states?: ("Running" | "Succeeded" | "Failed" | "Abandoned")[];
        to?: string;
        triggers?: ("Input" | "Schedule" | "ForceUpdate" | "Form")[];
      };
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Run"][];
        };
      };
    };
  };
  stopUpdateVariable: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
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
            runIds: number[];
          };
        };
      };
    };
  };
  getUpdateState: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["UpdateState"];
        };
      };
    };
  };
  listVersions: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
      };
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["VersionInUse"][];
        };
      };
    };
  };
  listVariablesOfSource: {
    parameters: {
      query?: {
        customFilter?: string;
        displayLevel?: "Normal" | "Verbose";
        hasProblems?: boolean;
        itemsPerPage?: number;
        pageNumber?: number;
        siteIds?: number[];
        sourceIds?: number[];
        variableIds?: number[];
      };
      header?: never;
      path: {
        sourceId: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Variable"][];
        };
      };
    };
  };
  createVariable: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        sourceId: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["VariableWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Variable"];
        };
      };
    };
  };
  listVariableTypes: {
    parameters: {
      query?: {
        itemsPerPage?: number;
        pageNumber?: number;
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
          "application/json": components["schemas"]["VariableType"][];
        };
      };
    };
  };
  createVariableType: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["VariableTypeWritten"];
      };
    };
    responses: {
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["VariableType"];
        };
      };
    };
  };
  updateVariableType: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["VariableTypeChange"];
      };
    };
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  deleteVariableType: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        id: number;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
}
