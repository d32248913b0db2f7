/** A small forward proxy: requests in absolute form are passed on, `CONNECT` opens a tunnel. It keeps what it was asked. */
import { createServer, request as forward } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface Proxy {
  readonly port: number;
  /** `POST http://host:1/mcp`, `CONNECT host:1`. */
  readonly asked: readonly string[];
  readonly authorizations: readonly (string | undefined)[];
}

export interface ProxyOptions {
  /** `user:password` that is asked for. */
  readonly credentials?: string;
  /** Hosts that only this proxy knows, by where they really are. */
  readonly hosts?: Readonly<Record<string, string>>;
}

export async function startProxy({ credentials, hosts = {} }: ProxyOptions = {}): Promise<Proxy> {
  const asked: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const isAllowed = (authorization: string | undefined) => {
    authorizations.push(authorization);
    return credentials === undefined || authorization === `Basic ${Buffer.from(credentials).toString("base64")}`;
  };
  const place = (hostname: string) => hosts[hostname] ?? hostname;
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    if (!isAllowed(incoming.headers["proxy-authorization"])) return void outgoing.writeHead(407).end();
    const { hostname, port, pathname, search } = new URL(incoming.url!);
    const { "proxy-authorization": _, "proxy-connection": __, ...headers } = incoming.headers;
    const target = { host: place(hostname), port, path: pathname + search, method: incoming.method!, headers };
    const onward = forward(target, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.writeHead(502).end());
    incoming.pipe(onward);
  });
  const tunnels = new Set<Socket>();
  server.on("connect", (request, client: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    if (!isAllowed(request.headers["proxy-authorization"])) {
      return void client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    }
    const [host = "", port] = request.url!.split(":");
    const onward = connect(Number(port), place(host), () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      onward.pipe(client).pipe(onward);
    });
    for (const socket of [client, onward]) socket.on("error", () => client.destroy());
    tunnels.add(client).add(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of tunnels) socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, asked, authorizations };
}
