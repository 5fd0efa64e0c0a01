// A client by the official JavaScript SDK of the former generation: `client_1.mjs MODE URL` or `client_1.mjs MODE COMMAND
// [ARGUMENT…]`. Prints what it saw as JSON.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [, , , command, ...args] = process.argv;
const client = new Client({ name: "test", version: "1" });
const transport = command.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args, env: process.env });
// The client tells the transport which version was agreed upon.
let version;
const told = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (agreed) => { version = agreed; told?.(agreed); };
await client.connect(transport);
const tools = await client.listTools();
const call = (name, given) => client.callTool({ name, arguments: given });
const text = "The ledger runs on PostgreSQL 17.2.";
const remembered = await call("remember", { text, tags: ["database:postgresql"] });
const recalled = await call("recall", { query: "which database has the ledger?" });
const refused = await call("recall", { qurey: "ledger" });
const resource = await client.readResource({ uri: "htm://memories/recent" });
const prompt = await client.getPrompt({ name: "what_do_we_know", arguments: { topic: "the ledger" } });
await client.close();
console.log(JSON.stringify({
  version,
  tools: tools.tools.map((tool) => tool.name),
  remembered: remembered.structuredContent,
  recalled: recalled.content[0].text,
  refused: [refused.isError, refused.content[0].text],
  resource: JSON.parse(resource.contents[0].text),
  prompt: prompt.messages[0].content.text,
}));
