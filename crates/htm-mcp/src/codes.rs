//! The error codes of the tools.

use htm_core::error::Code;
use htm_core::fault::Fault;

htm_core::error_codes! {
    ARGUMENT_UNKNOWN "argument_unknown" User "A tool has no argument of this name."
        => "use the arguments of the tool's schema";
    ARGUMENT_MISSING "argument_missing" User "A tool needs an argument that the call lacks."
        => "call the tool again with it";
    ARGUMENT_INVALID "argument_invalid" User "An argument has the wrong type, or is outside of its range."
        => "call the tool again with a value that its schema allows";
    ARGUMENTS_CONFLICT "arguments_conflict" User "Two arguments of a tool exclude each other, or both are missing."
        => "call the tool again with one of them";
    GROUP_TAKEN "group_taken" User "There is a group of this name already."
        => "join it with join_group, or use another name";
    GROUP_NOT_JOINED "group_not_joined" User "The robot did not join the group through this server."
        => "join it first with join_group";
}
