// An OpenID provider shaped like a Keycloak realm, for the black-box tests (tests/support/openid.rs).
//
//   node server.mjs <realm> <port>
//
// It prints `issuer <address>` when it is ready, and makes new keys at each start. The clients are listed below; the
// domain of each client is the name of the realm.

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const [realm, port] = process.argv.slice(2);
const mount = `/realms/${realm}`;

// People sign in without a question: `login_hint` of the request names them, else it is ann.
const people = { ann: ['admin'], bob: ['auditor'], eve: ['admin'] };
const callback = 'https://authz.example/console/-/callback';

const roles = {
  registrar: ['admin'],
  operator: ['admin'],
  'alice-app': ['clerk', 'offline_access'],
  'bob-app': ['auditor'],
};

function configuration(audience) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
  return {
    clients: [{
      client_id: 'console',
      client_secret: 'secret of console',
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: [callback],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
      backchannel_logout_uri: 'https://authz.example/console/-/back-channel-logout',
    }, ...Object.keys(roles).map((id) => ({
      client_id: id,
      client_secret: `secret of ${id}`,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      // The Java client sends its credentials in the form, not in a header.
      token_endpoint_auth_method: 'client_secret_post',
    }))],
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    interactions: { url: (_, interaction) => `${mount}/interaction/${interaction.uid}` },
    ttl: { Interaction: 600, Session: 600, Grant: 600, IdToken: 300, RefreshToken: 600 },
    jwks: { keys: [key] },
    cookies: { keys: [randomUUID()] },
    routes: {
      token: '/protocol/openid-connect/token',
      jwks: '/protocol/openid-connect/certs',
    },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: true },
      // Without a resource, access tokens would be opaque.
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          audience,
          accessTokenTTL: Number(process.env.ACCESS_TTL ?? 300),
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims: (_, token) => ({
      realm_access: { roles: people[token.accountId] ?? roles[token.clientId] },
      dom: realm,
      azp: token.clientId,
    }),
  };
}

// The issuer's URL contains the port, so the port must be known first.
const server = createServer();
server.listen(Number(port), '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(origin + mount, configuration('urn:portcullis'));
  const answer = provider.callback();
  // Signs in whoever the request names, and lets the client have what it asks for.
  async function interact(request, response) {
    const details = await provider.interactionDetails(request, response);
    const accountId = details.params.login_hint ?? 'ann';
    const grant = new provider.Grant({ accountId, clientId: details.params.client_id });
    grant.addOIDCScope('openid offline_access');
    grant.addResourceScope('urn:portcullis', '');
    const result = { login: { accountId }, consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }
  server.on('request', (request, response) => {
    if (!request.url.startsWith(`${mount}/`)) {
      response.writeHead(404).end();
      return;
    }
    request.originalUrl = request.url;
    request.url = request.url.slice(mount.length);
    if (request.url.startsWith('/interaction/')) {
      interact(request, response).catch((error) => response.writeHead(500).end(String(error)));
      return;
    }
    answer(request, response);
  });
  console.log(`issuer ${origin}${mount}`);
});
