/** Starts Swagger UI with collapsed operations, a filter by tag and links to operations; no external validator runs. */
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
// The dialog "Authorize" preselects both scopes.
ui.initOAuth({ scopes: ['datahub-api', 'push-data'], usePkceWithAuthorizationCodeGrant: true });
