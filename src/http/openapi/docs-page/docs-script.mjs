/** Starts Swagger UI: operations listed but closed, a filter by tag, links to operations, and no validator elsewhere. */
const ui = globalThis.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  validatorUrl: null,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  oauth2RedirectUrl: `${location.origin}/docs/oauth2-redirect.html`,
});
// Both scopes are ticked in the dialog of "Authorize".
ui.initOAuth({ scopes: ['datahub-api', 'push-data'], usePkceWithAuthorizationCodeGrant: true });
