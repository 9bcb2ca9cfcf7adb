// An authorization server for the tests: prints its address, and ends when its input does.
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

// It warns of what a server for the tests need not care about.
console.info = console.warn = () => {};

const entry = `${process.env.LIFECYCLE_OIDC_MODULES}/oidc-provider/lib/index.js`;
const { default: Provider } = await import(pathToFileURL(entry));

const client = (client_id, token_endpoint_auth_method, client_secret) => ({
  client_id,
  client_secret,
  token_endpoint_auth_method,
  grant_types: ['client_credentials', 'refresh_token', 'authorization_code'],
  redirect_uris: ['https://client.example/callback'],
});

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const address = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(address, {
    clients: [
      // A colon, a space, a percent sign, a plus sign: what basic authentication has to encode.
      client('by:basic', 'client_secret_basic', 's%20 ec:r+et/&='),
      client('by post', 'client_secret_post', 's%20 ec:r+et/&='),
      client('other', 'client_secret_basic', 'another secret'),
    ],
    features: {
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      devInteractions: { enabled: false },
    },
  });
  const answer = provider.callback();
  server.on('request', async (request, response) => {
    const url = new URL(request.url, address);
    if (url.pathname !== '/mint') {
      answer(request, response);
      return;
    }
    // What a person's consent would lead to: a grant, its refresh token and an access token of it.
    const found = await provider.Client.find(url.searchParams.get('client'));
    const accountId = 'machine';
    const grant = new provider.Grant({ accountId, clientId: found.clientId });
    grant.addOIDCScope('openid offline_access');
    const grantId = await grant.save();
    const scope = 'openid offline_access';
    const common = { accountId, client: found, grantId, scope, gty: 'authorization_code' };
    const refresh = await new provider.RefreshToken(common).save();
    const access = await new provider.AccessToken(common).save();
    response.end(`${refresh}\n${access}\n`);
  });
  console.log(address);
});

process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
