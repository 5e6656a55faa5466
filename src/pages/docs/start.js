// Beside the viewer, because the content security policy allows no script in the page itself.
globalThis.SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null, // it would send the document elsewhere
});
