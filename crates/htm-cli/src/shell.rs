//! Commands that a running server carries out for the shell, because it has the model loaded and connections open.
//!
//! A process that serves also listens on a unix socket, named after its program, its configuration and its time zone: a
//! command finds it only if both would do the same. Each side checks that the other runs as the same user. A connection carries one
//! command and its output, as JSON: a line for each part of the output, as it comes.

mod client;
mod server;
mod socket;

use serde::{Deserialize, Serialize};

use crate::args::{ContextArgs, HookCommand, RecallArgs, RememberArgs};
use crate::output::{Form, Said};

pub(crate) use self::client::{Answered, ask};
pub(crate) use self::server::serve;
pub(crate) use self::socket::Socket;

/// The byte that the server writes as soon as it has read a command. Without it the command was not begun.
const ACCEPTED: u8 = b'\n';

/// The most bytes of a command or of its output. A text of 1 MiB has at most 6 MiB as JSON (`\u0001`), and a recall may
/// return many.
const MAX_BYTES: u64 = 256 << 20;

/// A command for the server.
#[derive(Serialize, Deserialize)]
pub(crate) enum Asked {
    Remember {
        args: Box<RememberArgs>,
        /// The id of the write. If the answer is lost, the command does not write again.
        operation: String,
    },
    Recall(Box<RecallArgs>),
    Context(Box<ContextArgs>),
    /// A hook and its input.
    Hook(HookCommand, String),
}

#[derive(Deserialize)]
struct Request {
    asked: Asked,
    form: Form,
}

/// A part of the output of a command.
#[derive(Serialize, Deserialize)]
struct Reply {
    said: Said,
    /// The exit code of its process, with the last part.
    exit_code: Option<u8>,
}
