/** GET through the proxies and with the certificates that are set. */
import fs from 'node:fs';
import tls from 'node:tls';
import { getProxyForUrl } from 'proxy-from-env';
import { Agent, ProxyAgent, request } from 'undici';
import { shown } from './settings.mjs';

const REDIRECTS = 5;
const SILENCE_MS = 60_000;

export class Http {
  #connect;
  /** By proxy; '' is none. */
  #agents = new Map();

  /** @param settings of readSettings() */
  constructor(settings) {
    const { proxy, noProxy } = settings;
    // Where proxy-from-env looks first.
    if (proxy)
      Object.assign(process.env, { http_proxy: withScheme(proxy), https_proxy: withScheme(proxy) });
    if (noProxy) process.env.no_proxy = noProxy;
    this.#connect = settings.certificates ? { ca: readCertificates(settings.certificates) } : {};
  }

  /**
   * The answer, redirects followed: { status, headers, body (a stream), url }. A user and a password in
   * the address go to its own host alone.
   *
   * @throws Error that names the address, without password, and why nothing came
   */
  async get(address, headers = {}) {
    let url = new URL(address);
    const { origin } = url;
    const authorization = basicOf(url);
    for (let hop = 0; hop <= REDIRECTS; hop += 1) {
      const all = { 'user-agent': 'libtorch-serve', ...headers };
      if (authorization && url.origin === origin) all.authorization = authorization;
      const { statusCode: status, headers: answered, body } = await this.#ask(url, all);
      if (![301, 302, 303, 307, 308].includes(status) || !answered.location) {
        return { status, headers: answered, body, url: url.href };
      }
      await body.dump();
      url = new URL(answered.location, url);
    }
    throw new Error(`${shown(address)}: more than ${REDIRECTS} redirects`);
  }

  async close() {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }

  async #ask(url, headers) {
    const proxy = getProxyForUrl(url.href); // '' where there is none for this host
    try {
      const answer = await request(url, { headers, dispatcher: this.#agentOf(proxy) });
      answer.body.on('error', () => {}); // it may break off before anybody reads, who will meet the error
      return answer;
    } catch (error) {
      const through = proxy ? ` through the proxy ${shown(proxy)}` : '';
      throw new Error(`${shown(url)}${through}: ${reasonOf(error)}`, { cause: error });
    }
  }

  #agentOf(proxy) {
    const known = this.#agents.get(proxy);
    if (known) return known;
    const limits = { headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS };
    const connect = this.#connect;
    const agent = proxy
      ? new ProxyAgent({ uri: proxy, requestTls: connect, proxyTls: connect, ...limits })
      : new Agent({ connect, ...limits });
    this.#agents.set(proxy, agent);
    return agent;
  }
}

function basicOf(url) {
  if (!url.username && !url.password) return undefined;
  const words = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  return `Basic ${Buffer.from(words).toString('base64')}`;
}

function withScheme(proxy) {
  return /^\w+:\/\//.test(proxy) ? proxy : `http://${proxy}`;
}

function readCertificates(file) {
  try {
    return [...tls.rootCertificates, fs.readFileSync(file, 'utf8')];
  } catch (error) {
    throw new Error(`the certificates that pip's or npm's settings name: ${error.message}`);
  }
}

/** Why a connection failed; of several addresses tried, the first one's reason. */
function reasonOf(error) {
  return error.errors?.[0]?.message || error.cause?.message || error.message || error.code;
}
