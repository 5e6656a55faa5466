// Beside the viewer, because the content security policy allows no script in the page itself.

/** As src/pages/shared/key.ts has it: one key for all pages of the service, forgotten with the tab. */
const NAME = 'libtorch-serve.key';
let key = stored();

function stored() {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null; // storage can be forbidden
  }
}

function authorization() {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

/** Asks for the key when the service wants one, before the viewer asks for the document. */
async function start() {
  const response = await fetch('openapi.json', { headers: authorization() }).catch(() => null);
  if (response?.status === 401) askForKey();
  else show();
}

function askForKey() {
  const form = document.getElementById('key-form');
  document.getElementById('key-problem').textContent =
    key === null ? 'This service wants an API key.' : 'The service does not know this key.';
  form.hidden = false;
  form.onsubmit = (event) => {
    event.preventDefault();
    const entered = document.getElementById('key').value.trim();
    if (!/^[\x21-\x7e]+$/.test(entered)) return;
    key = entered;
    try {
      sessionStorage.setItem(NAME, key);
    } catch {
      // the key then lasts until the page is left
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
    validatorUrl: null, // it would send the document elsewhere
    // One that was entered in the viewer itself ("Authorize") wins.
    requestInterceptor: (request) => {
      const isGiven = Object.keys(request.headers ?? {}).some((name) =>
        /^authorization$/i.test(name),
      );
      if (!isGiven) request.headers = { ...request.headers, ...authorization() };
      return request;
    },
  });
}

start().catch(reportError);
