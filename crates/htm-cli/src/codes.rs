//! The error codes of the command line.

use htm_core::error::Code;
use htm_core::fault::Fault;

// Codes of the library for errors that the command line detects first.
pub(crate) use htm_core::error::codes::{
    BUDGET_OUT_OF_RANGE, CONTENT_EMPTY, CONTENT_TOO_LARGE, LIMIT_OUT_OF_RANGE, LINE_INVALID,
    MIN_SIMILARITY_OUT_OF_RANGE, NOT_CONFIRMED, PLAN_MISSING, PROVIDER_UNKNOWN,
};

htm_core::error_codes! {
    USAGE "usage" User "The command line is invalid, or its arguments contradict each other."
        => "see the usage: `htm COMMAND --help`";
    IO_ERROR "io_error" User "A file or a stream cannot be read or written."
        => "check the path and its permissions";
    PROCESS_FAILED "process_failed" Permanent "A process started by the command failed."
        => "run the program by hand to see why";
    METADATA_NOT_OBJECT "metadata_not_object" User "The metadata is not a JSON object."
        => "give an object, as in {\"ticket\": 7}";
    KEY_NOT_FOUND "key_not_found" User "No node has the key."
        => "name its namespace with --namespace, or search for it: `htm recall QUERY`";
    NOT_IN_WORKING_MEMORY "not_in_working_memory" User "The robot has none of these nodes in its working memory."
        => "list its working memory: `htm memory show`";
    LISTEN_MISSING "listen_missing" User "The server was started without an address."
        => "set server.listen, or give one: `htm serve --listen 127.0.0.1:7480`";
    PLAN_CHANGED "plan_changed" User "The matching nodes have changed since the plan was made."
        => "check the matches again with `--dry-run`";
    QUERIES_MISSING "queries_missing" User "A namespace has no memories to take queries from."
        => "give queries, or another --namespace";
    MODEL_NAME_INVALID "model_name_invalid" User "A text is not a model's name."
        => "write it as PROVIDER/NAME";
    DIMENSIONS_MISSING "dimensions_missing" User "The dimensions of a model whose vectors callers bring were not given."
        => "give them: `htm models add caller/NAME --dimensions N`";
    DIMENSIONS_MISMATCH "dimensions_mismatch" User "The model's dimensions differ from the requested ones."
        => "leave out --dimensions";
    TEMPLATE_INVALID "template_invalid" User "A template of the ontology is missing or invalid."
        => "see the built-in ones: `htm tags templates`";
    ONTOLOGY_INVALID "ontology_invalid" User "A file is not an ontology."
        => "see an example: `htm tags export`; nothing was imported";
    CONFIG_NO_PROJECT "config_no_project" User "There is no project's configuration to trust."
        => "go to the project's directory; the user's own file and the environment need no trust";
    DATABASE_IN_USE "database_in_use" User "The private PostgreSQL cannot be stopped while it is in use."
        => "end its users first (`htm up`, workers, your own programs), or stop it anyway: `htm db down --force`";
    DATABASE_NOT_PRIVATE "database_not_private" User "HTM does not start or stop the configured server."
        => "use that server's own tools, or unset database.url (HTM_DATABASE__URL)";
    MCP_CLIENT_INVALID "mcp_client_invalid" User "The standard input of `htm mcp` is not an MCP message."
        => "let an MCP client start it: {\"command\": \"htm\", \"args\": [\"mcp\"]}";
    CLIENT_CONFIG_INVALID "client_config_invalid" User "The configuration of an MCP client cannot be read, so it is not changed."
        => "correct the file, or add the server by hand as docs/mcp.md shows";
    CLIENT_CONFIG_CHANGED "client_config_changed" Transient "Another program changed the configuration of an MCP client meanwhile."
        => "try again; nothing was written";
    HOOK_INPUT_INVALID "hook_input_invalid" User "The standard input of `htm hook` is not a hook's JSON."
        => "let Claude Code start it: install the plugin of integrations/claude-code";
    DEMO_UNREADABLE "demo_unreadable" Bug "A question of the demo cannot be read."
        => "this is a bug; report it";
}

#[cfg(test)]
mod tests;
