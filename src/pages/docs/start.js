// Starts Swagger UI. A separate file, because the content security policy forbids inline scripts.

/** Key of the session storage, shared with src/pages/shared/api-key.ts. */
const STORAGE_KEY = 'libtorch-serve.key';
let key = stored();

function stored() {
  try {
    return sessionStorage.getItem(STORAGE_KEY);
  } catch {
    return null; // the browser forbids storage
  }
}

function authorization() {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

/** Shows the form for the API key if the server requires one, otherwise Swagger UI. */
async function start() {
  const response = await fetch('openapi.json', { headers: authorization() }).catch(() => null);
  if (response?.status === 401) showKeyForm();
  else show();
}

function showKeyForm() {
  const form = document.getElementById('key-form');
  document.getElementById('key-problem').textContent =
    key === null ? 'This server requires an API key.' : 'The server rejected this API key.';
  form.hidden = false;
  form.onsubmit = (event) => {
    event.preventDefault();
    const entered = document.getElementById('key').value.trim();
    if (!/^[\x21-\x7e]+$/.test(entered)) return;
    key = entered;
    try {
      sessionStorage.setItem(STORAGE_KEY, key);
    } catch {
      // the API key is lost when the page closes
    }
    form.hidden = true;
    start().catch(reportError);
  };
}

function show() {
  globalThis.SwaggerUIBundle({
    url: 'openapi.json',
    dom_id: '#docs',
    deepLinking: true,
    tryItOutEnabled: true,
    validatorUrl: null, // the default sends the document to validator.swagger.io
    // A key entered in Swagger UI ("Authorize") takes precedence.
    requestInterceptor: (request) => {
      const hasAuthorization = Object.keys(request.headers ?? {}).some((name) =>
        /^authorization$/i.test(name),
      );
      if (!hasAuthorization) request.headers = { ...request.headers, ...authorization() };
      return request;
    },
  });
}

start().catch(reportError);
