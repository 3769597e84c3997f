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
    clients: Object.keys(roles).map((id) => ({
      client_id: id,
      client_secret: `secret of ${id}`,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      // The Java client sends its credentials in the form, not in a header.
      token_endpoint_auth_method: 'client_secret_post',
    })),
    jwks: { keys: [key] },
    cookies: { keys: [randomUUID()] },
    routes: {
      token: '/protocol/openid-connect/token',
      jwks: '/protocol/openid-connect/certs',
    },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      // Without a resource, access tokens would be opaque.
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: '',
          audience,
          accessTokenTTL: 300,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims: (_, token) => ({
      realm_access: { roles: roles[token.clientId] },
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
  server.on('request', (request, response) => {
    if (!request.url.startsWith(`${mount}/`)) {
      response.writeHead(404).end();
      return;
    }
    request.originalUrl = request.url;
    request.url = request.url.slice(mount.length);
    answer(request, response);
  });
  console.log(`issuer ${origin}${mount}`);
});
