//! The error codes of the command line.

use htm_core::error::Code;
use htm_core::fault::Fault;

// Codes of the library for errors that the command line detects first.
pub(crate) use htm_core::error::codes::{
    BUDGET_OUT_OF_RANGE, CONTENT_EMPTY, CONTENT_TOO_LARGE, LIMIT_OUT_OF_RANGE, MIN_SIMILARITY_OUT_OF_RANGE,
    NOT_CONFIRMED, PROVIDER_UNKNOWN,
};

htm_core::error_codes! {
    USAGE "usage" User "The command line cannot be read, or its arguments do not fit together."
        => "see what the command takes: `htm COMMAND --help`";
    IO_ERROR "io_error" User "A file or a stream cannot be read or written."
        => "check the path and its permissions";
    PROCESS_FAILED "process_failed" Permanent "A process that the command started did not do its part."
        => "run the program by hand to see why";
    METADATA_NOT_OBJECT "metadata_not_object" User "The metadata is no JSON object."
        => "give an object, as in {\"ticket\": 7}";
    KEY_NOT_FOUND "key_not_found" User "No node has the key."
        => "name its namespace with --namespace, or look for it: `htm recall QUERY`";
    LINE_INVALID "line_invalid" User "A line of a file is not what the command reads."
        => "mend the line that the message names";
    LINE_TOO_LONG "line_too_long" User "A line of a file is longer than any memory."
        => "split the text of the line that the message names";
    NOT_IN_WORKING_MEMORY "not_in_working_memory" User "The robot has none of these nodes in its working memory."
        => "see what it has: `htm memory show`";
    PLAN_MISSING "plan_missing" User "The plan of the nodes to forget was not named."
        => "run it with `--dry-run` instead of `--yes`, look, then say so: `--plan PLAN --yes`, with the plan's number";
    PLAN_CHANGED "plan_changed" User "The nodes that match now are not those of the plan."
        => "look at it again with `--dry-run`";
    QUERIES_MISSING "queries_missing" User "A namespace has no memory to make queries of."
        => "give queries, or another --namespace";
    MODEL_NAME_INVALID "model_name_invalid" User "A text does not name a model."
        => "write it as PROVIDER/NAME";
    DIMENSIONS_MISMATCH "dimensions_mismatch" User "The model has other dimensions than were asked for."
        => "leave out --dimensions";
    TEMPLATE_INVALID "template_invalid" User "A template of the ontology is missing or invalid."
        => "see the built-in ones: `htm tags templates`";
    ONTOLOGY_INVALID "ontology_invalid" User "A file is no ontology."
        => "see what one looks like: `htm tags export`; nothing was imported";
    CONFIG_NO_PROJECT "config_no_project" User "No project's configuration was found to trust."
        => "go to the project's directory; the user's own file and the environment need no trust";
    DATABASE_IN_USE "database_in_use" User "Processes use the private PostgreSQL that was to be stopped."
        => "end them first (`htm up`, workers, your own programs), or stop it all the same: `htm db down --force`";
    DATABASE_NOT_PRIVATE "database_not_private" User "The configured server is not this program's to start or stop."
        => "use that server's own tools, or unset database.url (HTM_DATABASE__URL)";
    DEMO_UNREADABLE "demo_unreadable" Bug "A question of the demo cannot be read."
        => "this is a bug; report it";
}

#[cfg(test)]
mod tests;
